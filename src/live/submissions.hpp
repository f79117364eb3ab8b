// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What people and programs ask for (submit, cancel), and the keys under which they asked: whoever
/// asks again with the same key, because the answer was lost, gets the same submission. Values.

#include <cstdint>
#include <deque>
#include <map>
#include <schedmate/time.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "journal/journal.hpp"
#include "live/actions.hpp"

namespace schedmate::live {

/// Event: somebody asks for an action, which is his own decision: caps and breaker are not about
/// it. Its Answer has the action.
struct Requested {
  ActionCall call;
  std::string by{};          ///< how the caller is known, for the record
  bool is_keyed = false;     ///< submit: the token is the caller's own and may come again
  std::uint64_t number = 0;  ///< of the Answer
};

/// Bounded: a key is remembered for a day of the cluster's clock, of all keys the last ones.
class Submissions {
 public:
  explicit Submissions(std::size_t most = 50'000) : most_(most) {}

  struct Known {
    std::int64_t action = 0;
    SimTime when;
    std::uint64_t request = 0;  ///< hash of what was asked for
  };
  /// Null: no such key.
  [[nodiscard]] const Known* find(const std::string& token) const;
  void note(const ActionCall& call, std::int64_t action, SimTime now);
  [[nodiscard]] static std::uint64_t request_of(const ActionCall& call);

  /// What is to be kept in the journal since the last call; and from there.
  [[nodiscard]] std::vector<journal::Kept> take(SimTime now);
  /// All that was kept; what has another name is passed over.
  void restore(const std::map<std::string, std::string>& kept);

 private:
  void add(const std::string& token, const Known& known);
  std::size_t most_;
  std::map<std::string, Known> known_;  // by token
  std::deque<std::string> order_;       // oldest first
  std::vector<journal::Kept> fresh_;
};

}  // namespace schedmate::live
