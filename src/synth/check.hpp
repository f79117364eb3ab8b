// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Drawn statistics beside the published ones.

#include <cstdint>
#include <string>
#include <vector>

#include "synth/published.hpp"
#include "synth/synth_job.hpp"
#include "synth/tally.hpp"

namespace schedmate::synth {

constexpr double most_off = 0.10;  ///< of what was published

struct CheckRow {
  std::string statistic;  ///< "mean run s", "GPU time %", "duration CDF %", ...
  std::string of;         ///< type or state; "" for the whole
  double at = 0;          ///< of a CDF's point: GPUs or seconds; 0: no point
  double asked = 0;
  double drawn = 0;
  double off = 0;  ///< |drawn - asked| / asked; of a CDF point: / the smaller side of the point
  [[nodiscard]] bool holds() const { return off <= most_off; }
};

/// Means of run time, GPUs and GPU time; shares of types and states in jobs and GPU time.
[[nodiscard]] std::vector<CheckRow> moment_rows(const ClusterFigures& cluster, const Tally& tally);

/// Points of the GPU CDF. Left out are points with fewer than ten jobs asked for on a side (one job
/// more or less is then 10 %), with less than 0.05 % on a side (printed to 0.01: half a unit is
/// then 10 %), and those that contradict the mean (gpu_cdf_holds_to).
[[nodiscard]] std::vector<CheckRow> gpu_rows(const ClusterFigures& cluster, const Tally& tally);

/// Points of the duration CDFs, of each type and of all jobs; left out as above. The curve of all
/// jobs is a sum of types, each drawn to one job: it needs ten jobs for each of them.
[[nodiscard]] std::vector<CheckRow> duration_rows(const ClusterFigures& cluster,
                                                  const SynthJobs& jobs);

/// All of these.
[[nodiscard]] std::vector<CheckRow> check_rows(const ClusterFigures& cluster,
                                               const SynthJobs& jobs);

/// Means and shares, of each CDF the point that is most off, and all that do not hold.
[[nodiscard]] std::vector<CheckRow> worst_rows(const std::vector<CheckRow>& rows);

}  // namespace schedmate::synth
