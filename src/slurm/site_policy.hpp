// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How a site schedules, by what `scontrol show config` says of it.

#include <string>
#include <vector>

#include "slurm/queue.hpp"

namespace schedmate::slurm {

/// Of priority/multifactor. What is not said is as the policy slurm_backfill has it.
struct PrioritySettings {
  bool by_submission = false;  ///< priority/basic: nothing below counts
  std::int64_t weight_age = 1000;
  std::int64_t weight_job_size = 1000;
  bool favor_small = false;
  Seconds max_age{7 * 86'400};
  Seconds half_life{7 * 86'400};  ///< 0: nothing is forgotten
};
[[nodiscard]] PrioritySettings priority_settings(const ClusterQueue& queue);

struct SitePolicy {
  std::string text;  ///< "slurm_backfill:bf_interval=30,...", as --policy takes it
  /// Settings of the site that are in it, as Slurm writes them: "bf_interval=30".
  std::vector<std::string> settings;
  /// What could not be read or is out of the policy's bounds, one sentence each.
  std::vector<std::string> notes;
};
/// The policy slurm_backfill with the site's settings; where it starts jobs in strict order
/// (sched/builtin) with backfilling of the first job alone, which is none.
[[nodiscard]] SitePolicy site_policy(const ClusterQueue& queue);

}  // namespace schedmate::slurm
