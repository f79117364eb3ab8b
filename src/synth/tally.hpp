// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Sums over drawn jobs that the published means and shares are compared with.

#include "synth/joint.hpp"
#include "synth/synth_job.hpp"

namespace schedmate::synth {

struct Tally {
  double jobs = 0;
  double run_s = 0;
  double gpus = 0;
  double gpu_s = 0;  ///< GPU seconds
  std::vector<double> type_jobs, type_gpu_s;
  std::array<double, 3> state_jobs{}, state_gpu_s{};
  std::vector<double> gpu_steps;  ///< jobs in each step of the GPU CDF

  explicit Tally(const ClusterFigures& cluster);
  Tally(const ClusterFigures& cluster, const SynthJobs& drawn);
  /// `sign` -1 takes it out again.
  void add(const ClusterFigures& cluster, const SynthJob& job, double sign = 1);
};

}  // namespace schedmate::synth
