// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A larger or smaller trace out of a real one (docs/formats/generate.md).

#include <cstdint>
#include <schedmate/job.hpp>
#include <schedmate/result.hpp>
#include <vector>

namespace schedmate::synth {

struct ResampleOptions {
  std::int64_t jobs = 0;
  std::int64_t gpus = 0;
  double load = 0;  ///< GPU seconds asked for / GPU seconds there are
  std::uint64_t seed = 1;
};

struct Resampled {
  ClusterSpec cluster;              ///< VCs in proportion to the source's
  std::vector<std::uint32_t> rows;  ///< of each job: index into the source's jobs
  std::vector<SimTime> submits;     ///< sorted
  Seconds span{0};                  ///< from the first midnight on
  std::int64_t gpus = 0;            ///< whole nodes: at most those asked for
};

/// Draws rows with replacement; a job that is larger than its scaled VC is drawn again. Errors:
/// unsupported when the GPUs are not enough for one node a VC, or for any job at all.
[[nodiscard]] Result<Resampled> resample(const Trace& source, const ClusterSpec& cluster,
                                         const ResampleOptions& options);

/// Nodes for each VC: floor of the proportional share but at least one; what is left goes to the
/// largest, and what is too much comes from it.
[[nodiscard]] Result<ClusterSpec> scale_cluster(const ClusterSpec& cluster, std::int64_t gpus);

}  // namespace schedmate::synth
