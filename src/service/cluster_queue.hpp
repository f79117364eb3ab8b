// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The queue of a Slurm cluster as a request names it.

#include <string>

#include "settings/session.hpp"
#include "slurm/queue.hpp"

namespace schedmate::service {

/// From a file with what scontrol shows; "-" and other pipes are read once. Errors: invalid (no
/// such file, or what it says of the cluster contradicts itself); those of request_files().
[[nodiscard]] Result<slurm::ClusterQueue> read_cluster_queue(const settings::Session& session,
                                                             const std::string& from);

}  // namespace schedmate::service
