// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/random.hpp"
#include "synth/published.hpp"
#include "synth/synth_job.hpp"

namespace schedmate::synth {

/// Gives each failed job a cause and a restart delay. Run times and GPUs are those of the joint
/// draw and stay (a failed job's run time is its time to failure): a cause is likely for a job as
/// its number in the table and the table's lognormals of GPUs and time to failure are there. The
/// table's failures have 300 times the GPU time of a cluster's failed job, so that not all of it
/// can hold: time to failure does; the lognormal of GPUs is made wider; the numbers are fitted
/// (Sinkhorn) by a factor of at most 8 for each cause (docs/decisions/0013-synthetic-clusters.md).
void assign_causes(const Published& published, SynthJobs& jobs, Random random);

/// Lognormal with this mean and median. A mean at or below the median has no such lognormal: the
/// median then, always. 0 for a median that was printed as 0 stands for half its last digit.
[[nodiscard]] double draw_spread(const Spread& spread, Random& random);

}  // namespace schedmate::synth
