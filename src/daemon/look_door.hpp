// SPDX-License-Identifier: Apache-2.0
#pragma once

/// When the cluster is read: once in a while by itself, and sooner where a hook of the cluster asks
/// for it. A word from there means "look now"; what it says is never read, and anybody may say it:
/// however often that happens, the cluster is not asked more often in the long run.

#include <chrono>
#include <schedmate/result.hpp>

#include "base/descriptor.hpp"

namespace schedmate::daemon {

/// When a reading is due.
class Pace {
 public:
  using Time = std::chrono::nanoseconds;

  /// Somebody asked for a look: two readings, for some clusters are read by halves in turn.
  void ask() { wanted_ = 2; }
  /// Whether the cluster is to be read now, which then counts as a reading. Readings that came
  /// early are made up for: on average there is at most one in a second, or in `poll` where that is
  /// shorter. Nobody looks early while the last answer is still to come (`is_idle` says).
  [[nodiscard]] bool due(Time now, std::chrono::milliseconds poll, bool is_idle);

 private:
  Time last_{}, paid_until_{};
  int wanted_ = 0;
};

/// Datagrams to a port of 127.0.0.1.
class LookDoor {
 public:
  /// 0: nobody is heard. Errors: conflict (the port is taken), unavailable.
  [[nodiscard]] Result<void> open(std::int64_t port);
  /// Whether anything has come since the last call. Never waits.
  [[nodiscard]] bool knocked();

 private:
  Descriptor socket_;
};

}  // namespace schedmate::daemon
