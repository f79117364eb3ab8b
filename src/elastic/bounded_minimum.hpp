// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Least value of a function of a few variables, each within bounds. At every point the function
/// gives a quadratic model of itself (for sums of squares that of Gauss and Newton), whose lowest
/// point within the bounds is tried next; how far the model can be trusted is learned on the way.
/// Does not allocate.

#include <array>
#include <cstddef>
#include <functional>

namespace schedmate::elastic {

inline constexpr std::size_t most_variables = 7;
using SearchPoint = std::array<double, most_variables>;
using SearchMatrix = std::array<SearchPoint, most_variables>;

struct QuadraticModel {
  double value = 0;
  SearchPoint gradient{};
  /// Symmetric, with no negative eigenvalue. A variable without any stays where it is.
  SearchMatrix curvature{};
};

/// A variable whose bounds are equal stays there; so do those that are not used, at 0.
struct BoundedFunction {
  SearchPoint lower{}, upper{};
  std::function<QuadraticModel(const SearchPoint&)> model_at;
};

struct SearchLimits {
  double largest_step = 1e300;  ///< of any variable at once
  double decrease = 1e-14;      ///< stops where the model promises no more than this
  int evaluations = 200;
};

struct Minimum {
  SearchPoint at{};
  double value = 0;
  int evaluations = 0;
  bool found = false;  ///< false: the evaluations did not suffice
};

/// The local minimum that a search from `start`, moved within the bounds, comes to. Never higher
/// than where it began.
[[nodiscard]] Minimum bounded_minimum(const BoundedFunction& function, const SearchPoint& start,
                                      const SearchLimits& limits = {});

}  // namespace schedmate::elastic
