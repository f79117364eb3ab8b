// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Estimates that a cap bounds, say the time limit that the cluster enforces anyway.

#include <schedmate/estimator.hpp>

namespace schedmate::policy {

/// What `estimator` says, but no run time above the one that `cap` says; a distribution moves with
/// it, so its upper quantiles may be above.
[[nodiscard]] Estimator capped(Estimator estimator, Estimator cap);

}  // namespace schedmate::policy
