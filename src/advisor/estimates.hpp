// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The rows of estimates.def, and what they share.

#include <schedmate/advice.hpp>

#include "advisor/weighted.hpp"

namespace schedmate::advisor {

#define ESTIMATE(name, summary)                                       \
  [[nodiscard]] Estimate estimate_##name(const EstimateInput& input); \
  [[nodiscard]] RunAnswer answer_##name(const EstimateInput& input);
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

/// The latest run says most: what a user changes, stays. Halves after three later ones, and with
/// each month.
[[nodiscard]] double weight_of_run(const PastRun& run, std::size_t later_ones, SimTime now);

/// How far off an estimate usually is, in log space: the farther the runs are from the job at hand,
/// the less their agreement means (measured on real durations, bench/history_replay.cpp).
[[nodiscard]] double usual_spread(AdviceSource source);
/// That of runs about their centre. Few may agree by chance, so it is mixed with the usual one.
[[nodiscard]] double spread_of(const Sample& sample, double centre, AdviceSource source);

inline constexpr std::size_t user_runs = 5;  ///< of the fallback: odd, so that the median is one

}  // namespace schedmate::advisor
