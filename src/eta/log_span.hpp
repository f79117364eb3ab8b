// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

namespace schedmate::eta {

/// Of what never happens, as far as anybody can tell.
inline constexpr double beyond_s = 60 * 86'400;

/// The log of a span of time with a minute added, in which differences are alike for short and long
/// ones; beyond 60 days all are alike.
[[nodiscard]] inline double log_span(double seconds) {
  constexpr double minute = 60;
  return std::log(minute + std::clamp(seconds, 0.0, beyond_s));
}

}  // namespace schedmate::eta
