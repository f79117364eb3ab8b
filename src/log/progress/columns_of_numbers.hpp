// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How the numbers at one place change from line to line.

#include <cstddef>
#include <span>
#include <vector>

namespace schedmate::progress {

struct Rise {
  std::size_t up = 0, same = 0;
  std::size_t restarts = 0;  ///< to half or less, as at the end of an epoch
  std::size_t falls = 0;     ///< other ways down
  double usual = 0;          ///< median of the rises
  double largest = 0;
};
[[nodiscard]] Rise rise_of(std::span<const double> values);

/// Whole and not negative, all of them.
[[nodiscard]] bool is_count(std::span<const double> values);

/// They do not change, or always in one direction and by nearly the same as before: a counter, a
/// learning rate.
[[nodiscard]] bool is_even(std::span<const double> values);

/// Of one value at least.
[[nodiscard]] double median_of(std::vector<double> values);

}  // namespace schedmate::progress
