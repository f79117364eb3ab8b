// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The clocks of the machine, as a value that is passed in. main() makes the real one
/// (settings/clock.hpp); tests and replays turn their own. Nothing else reads a clock. Any thread
/// may call its functions.

#include <chrono>
#include <functional>
#include <schedmate/time.hpp>

namespace schedmate {

struct Clock {
  /// Monotonic, since an unknown zero: for deadlines and for how long something took.
  std::function<std::chrono::nanoseconds()> now;
  /// Returns after that time has passed.
  std::function<void(std::chrono::nanoseconds)> sleep;
  /// Unix time, whole seconds. It may jump.
  std::function<SimTime()> wall{};
  /// CPU time of all threads of the process so far.
  std::function<std::chrono::nanoseconds()> cpu{};
};

}  // namespace schedmate
