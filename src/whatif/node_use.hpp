// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How much of the resource was in use on each node of a dump, and by whom.

#include <algorithm>
#include <vector>

#include "whatif/world.hpp"

namespace schedmate::whatif {

/// By AccountingDump::nodes. A job's own is taken to be spread evenly over its nodes; what does not
/// divide is left out, so that no figure exceeds what was there.
struct NodeUse {
  std::vector<std::int64_t> alone;     ///< the most that one job had
  std::vector<std::int64_t> together;  ///< the most that all had for a minute altogether

  [[nodiscard]] std::int64_t most(std::uint32_t node) const {
    return std::max(alone[node], together[node]);
  }
};

/// A job that still runs in the dump counts in `alone` only: one that Slurm has lost track of would
/// add to all that ran on its node since.
[[nodiscard]] NodeUse node_use(const AccountingDump& dump, Resource resource);

/// Jobs that still run in the dump though others used their GPUs for more than a minute: indices
/// into AccountingDump::jobs.
[[nodiscard]] std::vector<std::uint32_t> find_runaways(const AccountingDump& dump,
                                                       const InferredCluster& cluster);

/// Adds a note that names them.
void note_runaways(const AccountingDump& dump, InferredCluster& seen);

}  // namespace schedmate::whatif
