// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The statistics of the summary, each a small pure function. "No value" is NaN throughout, which
/// JSON prints as null and the tables as a dash.

#include <cstdint>
#include <schedmate/report.hpp>
#include <span>
#include <vector>

namespace schedmate::report {

/// Short jobs count as this long in slowdowns, so that a wait of seconds is no slowdown of
/// thousands.
inline constexpr Seconds slowdown_threshold{10};

/// The ceil(n * permille / 1000)-th smallest of n values, no interpolation; permille 1 to 1000.
[[nodiscard]] double nearest_rank(std::span<const double> ascending, std::uint64_t permille);

/// The rank itself, counted from 1; 0 when n is 0.
[[nodiscard]] constexpr std::uint64_t rank_of(std::uint64_t n, std::uint64_t permille) {
  return (n * permille + 999) / 1000;
}

[[nodiscard]] Distribution distribution(std::span<const double> ascending);

/// Share of values at most cdf_grid(k), for every k.
[[nodiscard]] RunSummary::Cdf cumulative(std::span<const double> ascending);

/// max(1, jct / max(duration, threshold)).
[[nodiscard]] double bounded_slowdown(Seconds jct, Seconds duration);

/// (sum x)^2 / (n sum x^2): 1 when all are equal, 1/n when one has everything.
[[nodiscard]] double jain_index(std::span<const double> values);

}  // namespace schedmate::report
