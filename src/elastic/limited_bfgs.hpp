// SPDX-License-Identifier: Apache-2.0
#pragma once

/// L-BFGS-B, the search that Sia's released simulator fits its models with, for a few
/// variables: down the gradient within the bounds to the first low point of a model (Cauchy's), on
/// to the lowest of the variables that are still free, and a line search towards it. The model's
/// curvature is learned from the last steps. Does not allocate.
///
/// Byrd, Lu, Nocedal, Zhu, "A limited memory algorithm for bound constrained optimization" (1995);
/// Morales, Nocedal, "Remark on Algorithm 778" (2011): the free variables are moved within the
/// bounds one by one; More, Thuente, "Line search algorithms with guaranteed sufficient decrease"
/// (1994). With few variables the curvature is kept as a whole matrix, which is the same but for
/// rounding.

#include "elastic/bounded_minimum.hpp"

namespace schedmate::elastic {

/// When the search ends; as the released simulator sets them.
struct LimitedBfgsLimits {
  double decrease = 1e-5;  ///< of a step, as a share of the larger of the value's size and 1
  double slope = 1e-5;     ///< along which no variable may still go down
  int evaluations = 15000;
};

/// Where the search from `start`, moved within the bounds, ends: often before the minimum. Bounds
/// may be infinite. Of the function's models the curvature is not asked for.
[[nodiscard]] Minimum limited_bfgs_minimum(const BoundedFunction& function,
                                           const SearchPoint& start,
                                           const LimitedBfgsLimits& limits = {});

}  // namespace schedmate::elastic
