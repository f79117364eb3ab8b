// SPDX-License-Identifier: Apache-2.0
#pragma once

/// An interval that holds what it promises: how far off past advice was is how far off this one may
/// be (split conformal prediction, with weights for those past cases that are more like this one).

#include <schedmate/advice.hpp>

namespace schedmate::advisor {

/// Bounds of log(actual / p50).
struct LogInterval {
  double low = 0;
  double high = 0;
};

/// The central 80 %. `spread` (of the matches, in log space) stands in while there is little
/// experience, and bounds what a case beyond all experience may do.
[[nodiscard]] LogInterval conformal_interval(const EstimateInput& input, double spread);

}  // namespace schedmate::advisor
