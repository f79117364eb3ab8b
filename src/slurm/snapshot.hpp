// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A Slurm cluster as the forecast takes it (schedmate/eta.hpp). Partitions with nodes in common
/// are one pool, and nodes with other numbers of GPUs are another; each job has those of its nodes
/// that it may use. Jobs compete in the order of their priorities as they are now.

#include <functional>
#include <map>
#include <schedmate/eta.hpp>

#include "slurm/blocker.hpp"
#include "slurm/queue.hpp"
#include "slurm/ranks.hpp"

namespace schedmate::slurm {

struct SnapshotOfQueue {
  QueueSnapshot snapshot;
  /// Of each job of the snapshot, by index into ClusterQueue::jobs. Several are tasks of one
  /// array.
  std::vector<std::size_t> queued;
  /// Of each partition with GPUs its pool, and its nodes there as of SnapshotJob::nodes.
  struct Place {
    std::uint32_t pool = 0;
    std::shared_ptr<const NodeSet> nodes;
  };
  std::map<std::string, Place, std::less<>> places;
  /// Where a submission comes in.
  Ranks ranks;
  /// Parallel to `queued`; of running jobs empty.
  std::vector<Blocker> blockers;
  /// What is left out, or taken to be simpler than it is; one sentence each.
  std::vector<std::string> notes;
};

/// What is known of a job's run time.
struct JobBelief {
  RunTimeBelief run_time;
  std::uint32_t burst = 0;
  RunTimeSource source = RunTimeSource::site;
};
using BeliefOf = std::function<JobBelief(const QueuedJob&)>;

/// Without `past` and `site`, which the caller has from elsewhere. Errors: invalid where no node
/// has a GPU.
[[nodiscard]] Result<SnapshotOfQueue> snapshot_of(const ClusterQueue& queue,
                                                  const BeliefOf& belief_of);

}  // namespace schedmate::slurm
