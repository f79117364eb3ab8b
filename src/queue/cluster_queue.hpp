// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The queue of a Slurm cluster as a request names it.

#include <string>

#include "settings/session.hpp"
#include "slurm/queue.hpp"

namespace schedmate::queue {

/// `from` is "slurm" (the cluster of this machine, asked through scontrol), a file with what
/// Slurm's tools print ("-" and other pipes are read once), or "": slurm where scontrol is in PATH.
/// Errors: unsupported ("" without scontrol); of the tools as run_tool(); invalid (no such file, or
/// what it says of the cluster contradicts itself); those of request_files().
[[nodiscard]] Result<slurm::ClusterQueue> read_cluster_queue(const settings::Session& session,
                                                             const std::string& from);

}  // namespace schedmate::queue
