// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Whether what jobs hold and what nodes say of their GPUs fits together.

#include <schedmate/result.hpp>

namespace schedmate::slurm {

struct ClusterQueue;

/// Takes out jobs that have ended since, where the nodes were read after them, and notes what does
/// not fit. Errors: invalid (a job has more GPUs than its node, two have the same).
[[nodiscard]] Result<void> check_held(ClusterQueue& queue, bool nodes_after_jobs);

}  // namespace schedmate::slurm
