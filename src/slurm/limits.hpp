// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a QOS, an account or a user may have at one time, as `scontrol show assoc_mgr` shows it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::slurm {

struct ClusterQueue;

/// Jobs that together may run on so many GPUs, and so many of them at a time.
struct GroupLimit {
  std::string name;  ///< "QOS capped, user bob"
  std::optional<std::int64_t> gpus, jobs;
  std::vector<std::size_t> members;  ///< by index into ClusterQueue::jobs
};

/// Those of `queue` that limit one of its jobs: of a QOS (a job's own and its partition's) in all,
/// for each user and each account; of an account with those below it; of a user in an account. None
/// where the settings say that limits are not enforced. Not read are limits on GPUs of one type,
/// and those of a QOS for each user while no user has a job of it.
[[nodiscard]] std::vector<GroupLimit> read_limits(std::string_view text, const ClusterQueue& queue);

}  // namespace schedmate::slurm
