// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Jobs from the joint distribution, with less scatter than independent draws have.

#include "base/random.hpp"
#include "synth/joint.hpp"
#include "synth/synth_job.hpp"

namespace schedmate::synth {

/// Systematic sampling: one random start, then every 1/count of the weight, along the cells by type
/// and run time (there and back over GPUs and states). The count below any point of a type's
/// duration CDF is off by less than one job. Run times are even over the logarithm of their slot.
[[nodiscard]] SynthJobs draw_jobs(const Joint& joint, std::int64_t count, Random random);

/// Whole seconds above `low` and up to `high`, at least 1.
[[nodiscard]] std::int64_t run_within(double low, double high, Random& random);

}  // namespace schedmate::synth
