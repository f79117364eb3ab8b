// SPDX-License-Identifier: Apache-2.0
#pragma once

/// When the bursts submit their jobs.

#include <span>

#include "base/random.hpp"
#include "synth/streaks.hpp"

namespace schedmate::synth {

struct SubmissionPlan {
  const Published& published;
  const Streaks& streaks;
  std::int64_t span_s;
};

/// Sets submit_s of every job, from 0 (a midnight) and below `span_s`. Bursts begin as a Poisson
/// process with the cluster's day curve. A job of a type that comes in batches follows the one
/// before it at once (so often that the share of zero gaps is the measured one) or within seconds;
/// others follow within an hour, evenly over the logarithm.
void submit_bursts(const SubmissionPlan& plan, SynthJobs& jobs, Random random);

struct Gaps {
  double zero_percent = 0;
  double cv = 0;  ///< coefficient of variation
};
[[nodiscard]] Gaps gaps_of(const SynthJobs& jobs);

/// Seconds since the first midnight at the share `u` (0 to 1) of the span's submissions.
[[nodiscard]] std::int64_t day_curve(const std::array<double, 24>& hourly, std::int64_t span_s,
                                     double u);

}  // namespace schedmate::synth
