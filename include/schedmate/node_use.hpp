// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a job used of each of its nodes and GPUs, as a site's monitoring counted it. Slurm itself
/// counts over all nodes alone. Memory is in MiB, at its highest; an empty value is one that nobody
/// measured.

#include <cstdint>
#include <optional>
#include <schedmate/time.hpp>
#include <string>
#include <vector>

namespace schedmate {

struct UsedGpu {
  std::string gpu;                 ///< as the monitoring calls it: "0"
  std::optional<double> util_pct;  ///< mean over the run
  std::optional<double> memory_mib, memory_total_mib;
  bool operator==(const UsedGpu&) const = default;
};

struct UsedNode {
  std::string node;
  std::int64_t cpus = 0;  ///< of the job on this node; 0 = not known
  std::optional<FractionalSeconds> cpu_time;
  std::optional<double> memory_mib, memory_total_mib;
  std::vector<UsedGpu> gpus;
  bool operator==(const UsedNode&) const = default;
};

}  // namespace schedmate
