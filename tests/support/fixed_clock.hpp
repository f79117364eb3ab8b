// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <schedmate/clock.hpp>

namespace schedmate::testing {

/// A clock that stands still.
inline Clock fixed_clock(SimTime now) {
  return {.now = [] { return std::chrono::nanoseconds(0); },
          .sleep = [](std::chrono::nanoseconds) {},
          .wall = [now] { return now; },
          .cpu = [] { return std::chrono::nanoseconds(0); }};
}

/// The machine's time, for the network; who sleeps is at once that much later. Any threads.
inline Clock sleepless_clock() {
  auto slept = std::make_shared<std::atomic<std::int64_t>>(0);
  const auto now = [slept] {
    return std::chrono::steady_clock::now().time_since_epoch() +  // clock: deadlines of the network
           std::chrono::nanoseconds(slept->load());
  };
  return {.now = now,
          .sleep = [slept](std::chrono::nanoseconds time) { *slept += time.count(); },
          .wall = {},
          .cpu = {}};
}

}  // namespace schedmate::testing
