// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Who lets messages of probes in, on the daemon's side: proof, time, session and counter
/// (docs/probe.md). No I/O, no clock.

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>

#include "probe/seal.hpp"

namespace schedmate::probe {

/// What became of a message.
enum class Verdict : std::uint8_t {
  taken,
  malformed,  ///< not a message, or not a report
  unproved,   ///< without the proof of its node
  late,       ///< sealed too long ago, or in the future: one of the clocks is wrong
  replayed,   ///< its session is not this one, or its counter was there before
  unknown,    ///< the cluster has no such node
  too_many,   ///< messages of this node within a minute
};
inline constexpr std::size_t verdicts = static_cast<std::size_t>(Verdict::too_many) + 1;
[[nodiscard]] std::string_view name_of(Verdict verdict);

struct Refusal {
  Verdict verdict = Verdict::malformed;
  std::string message, mend;
};
template <class Value>
using Admitted = tl::expected<Value, Refusal>;

class Gate {
 public:
  static constexpr std::int64_t window_s = 120;      ///< how far clocks may differ
  static constexpr unsigned most_in_a_minute = 120;  ///< messages of one node

  /// `session`: hexadecimal digits that no other run of the daemon has. Without a secret nobody
  /// comes in.
  Gate(std::string secret, std::string session);

  [[nodiscard]] bool is_open() const { return !secret_.empty(); }
  [[nodiscard]] const std::string& session() const { return session_; }
  /// What anybody's message proves by itself, and when. From any thread.
  [[nodiscard]] Admitted<Message> check(std::string_view text, std::int64_t now_s) const;
  /// Each message once, and not more of them than a node has to say. From one thread; `message` was
  /// checked, and its node is known.
  [[nodiscard]] Admitted<void> admit(const Message& message, std::int64_t now_s);
  /// The last one taken from a node in this session; 0: none.
  [[nodiscard]] std::uint64_t last_counter(std::string_view node) const;

 private:
  struct Node {
    std::uint64_t counter = 0;
    std::int64_t minute = 0;
    unsigned messages = 0;  ///< within it
  };
  std::string secret_, session_;
  std::map<std::string, Node, std::less<>> nodes_;
};

}  // namespace schedmate::probe
