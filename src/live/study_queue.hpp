// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which studies are due, and which are being made: few at a time, one of a kind for each attempt,
/// failures before code and code before logs. Nothing grows beyond the jobs there are.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <schedmate/time.hpp>
#include <set>
#include <utility>
#include <vector>

#include "live/study.hpp"

namespace schedmate::live {

class StudyQueue {
 public:
  struct Options {
    std::size_t most_out = 4;
    Seconds given_up{600};  ///< a study that has not answered by then does so no more
    Seconds again{60};      ///< after an error that may pass; twice as long each time
    int tries = 6;
  };
  struct Counts {
    std::uint64_t made = 0, failed = 0, late = 0, skipped = 0;  ///< skipped: asked for while out
  };
  /// One of an attempt.
  struct Key {
    std::uint64_t attempt = 0;
    Study::What what = Study::What::code;
    auto operator<=>(const Key&) const = default;
  };
  StudyQueue() = default;
  explicit StudyQueue(const Options& options) : options_(options) {}

  /// It is due from `when` on; the earlier of two wishes counts.
  void want(const Key& key, SimTime when);
  /// Nothing more is wanted of it; what is out may still come, and is late then.
  void forget(std::uint64_t attempt);
  /// Those that have been out for too long: nobody waits for their answers any more.
  std::vector<Key> give_up(SimTime now);
  struct Due {
    std::uint64_t number;
    Key key;
  };
  /// To be made now. They are out from now on.
  std::vector<Due> take(SimTime now);
  struct Answered {
    Key key;
    SimTime asked;
  };
  /// Its answer has come; nothing: nobody waits for it any more.
  std::optional<Answered> returned(std::uint64_t number);
  /// Its answer was an error that may pass: it is wanted again, unless that was tried often.
  bool again(const Key& key, SimTime now);
  /// It went well: earlier errors count no more.
  void went_well(const Key& key) { tries_.erase(key); }
  /// When take() may have something; `never` while all places are taken, or nothing is wanted.
  [[nodiscard]] SimTime next() const;
  [[nodiscard]] const Counts& counts() const { return counts_; }
  [[nodiscard]] std::size_t waiting() const { return when_.size(); }

 private:
  using Wishes = std::set<std::pair<SimTime, Key>>;
  [[nodiscard]] static std::size_t urgency(const Key& key) {
    return key.what == Study::What::failure ? 0 : key.what == Study::What::code ? 1 : 2;
  }
  void drop(const Key& key);

  Options options_;
  std::array<Wishes, 3> wishes_;           // by urgency
  std::map<Key, SimTime> when_;            // of each wish
  std::map<std::uint64_t, Answered> out_;  // by number
  std::map<Key, std::uint64_t> busy_;      // numbers of those that are out
  std::map<Key, int> tries_;               // that came to nothing
  std::uint64_t numbers_ = 0;
  Counts counts_;
};

}  // namespace schedmate::live
