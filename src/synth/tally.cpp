// SPDX-License-Identifier: Apache-2.0
#include "synth/tally.hpp"

#include <algorithm>

namespace schedmate::synth {

Tally::Tally(const ClusterFigures& cluster)
    : type_jobs(cluster.types.size()),
      type_gpu_s(cluster.types.size()),
      gpu_steps(cluster.gpu_cdf.size()) {}

Tally::Tally(const ClusterFigures& cluster, const SynthJobs& drawn) : Tally(cluster) {
  for (const SynthJob& job : drawn) add(cluster, job);
}

void Tally::add(const ClusterFigures& cluster, const SynthJob& job, double sign) {
  const double count = sign * static_cast<double>(job.gpus);
  const double seconds = count * static_cast<double>(job.run_s);
  jobs += sign;
  run_s += sign * static_cast<double>(job.run_s);
  gpus += count;
  gpu_s += seconds;
  type_jobs[job.type] += sign;
  type_gpu_s[job.type] += seconds;
  state_jobs[job.state] += sign;
  state_gpu_s[job.state] += seconds;
  const auto step =
      std::ranges::lower_bound(cluster.gpu_cdf, static_cast<double>(job.gpus), {}, &CdfPoint::x);
  const auto last = std::prev(cluster.gpu_cdf.end());
  gpu_steps[static_cast<std::size_t>(std::min(step, last) - cluster.gpu_cdf.begin())] += sign;
}

}  // namespace schedmate::synth
