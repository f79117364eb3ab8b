// SPDX-License-Identifier: Apache-2.0
#pragma once

/// An interval that holds what it promises: how far off past advice was is how far off this one may
/// be (split conformal prediction, with weights for those past cases that are more like this one).

#include <array>
#include <schedmate/advice.hpp>

namespace schedmate::advisor {

/// Bounds of log(actual / p50).
struct LogInterval {
  double low = 0;
  double high = 0;
};

/// Normal quantiles at the middles of nine equal shares: a sample of a normal distribution, which
/// stands in while there is little experience, and the weight of all of it: forgotten after some
/// dozens of cases.
inline constexpr auto normal_sample =
    std::to_array<double>({-1.593, -0.967, -0.589, -0.282, 0.0, 0.282, 0.589, 0.967, 1.593});
inline constexpr double prior_weight = 3;

/// Of a past case. The same user's like cases show most; anybody's like cases outnumber them.
[[nodiscard]] constexpr double weight_of_case(bool same_user, bool same_source) {
  return (same_user ? 1 : 0.2) * (same_source ? 1 : 0.1);
}

/// The central 80 %. `spread` (of the matches, in log space) stands in while there is little
/// experience, and bounds what a case beyond all experience may do.
[[nodiscard]] LogInterval conformal_interval(const EstimateInput& input, double spread);

}  // namespace schedmate::advisor
