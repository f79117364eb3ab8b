// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/clock.hpp>

namespace schedmate::testing {

/// A clock that stands still.
inline Clock fixed_clock(SimTime now) {
  return {.now = [] { return std::chrono::nanoseconds(0); },
          .sleep = [](std::chrono::nanoseconds) {},
          .wall = [now] { return now; },
          .cpu = [] { return std::chrono::nanoseconds(0); }};
}

}  // namespace schedmate::testing
