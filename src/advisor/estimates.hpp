// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The rows of estimates.def, and what they share.

#include <schedmate/advice.hpp>

namespace schedmate::advisor {

#define ESTIMATE(name, summary) [[nodiscard]] Estimate estimate_##name(const EstimateInput& input);
#include "advisor/estimates.def"
#undef ESTIMATE

/// Failed, cancelled and the like: the job did not run to its end.
[[nodiscard]] bool ended_early(const PastRun& run);

/// GPU use as the mean of the runs that measured it.
void average_gpu_use(std::span<const PastRun> runs, Estimate& estimate);

/// Brings every figure to at most the limit, and p10 <= p50 <= p90.
void keep_within(std::optional<Seconds> limit, Estimate& estimate);

/// What a log of a duration is taken of: at least a second.
[[nodiscard]] double log_of(FractionalSeconds duration);

}  // namespace schedmate::advisor
