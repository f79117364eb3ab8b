// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Takes out what chance has left: a handful of jobs carries most of the GPU time, so that the
/// shares of even 100,000 drawn jobs scatter by far more than 10 %.

#include "base/random.hpp"
#include "synth/joint.hpp"
#include "synth/synth_job.hpp"

namespace schedmate::synth {

/// Moves that bring the means and shares of check.hpp closer, until each is within `balanced` or no
/// more are found: two jobs change states or GPUs (two of a type, or two of the jobs with most GPU
/// time); a job gets another run time within its step of the duration CDF, or another GPU count of
/// its type. Types and the points of the duration CDFs stay as they are.
void balance(const ClusterFigures& cluster, SynthJobs& jobs, Random random);

constexpr double balanced = 0.02;

}  // namespace schedmate::synth
