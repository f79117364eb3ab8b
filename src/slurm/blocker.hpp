// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What really keeps a job waiting. Slurm's own reason is kept where only Slurm can know it: holds,
/// dependencies, limits, licences. Where it says no more than that a job waits its turn (Priority,
/// Resources, nodes that are not available), which it says for many causes, the cluster itself is
/// looked at.

#include <map>
#include <schedmate/time.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "slurm/queue.hpp"
#include "slurm/reasons.hpp"

namespace schedmate::slurm {

struct Blocker {
  Waits waits = Waits::for_its_turn;
  /// "none" where nothing keeps it: Slurm starts it at its next pass.
  std::string kind = "none";
  std::string text;
  /// Jobs whose ends it waits for, where they can be named.
  std::vector<std::string> jobs{};
  /// Waits::for_a_time: not before.
  std::optional<SimTime> until{};
  /// With a limit of at most this it could start now.
  std::optional<Seconds> limit_to_start_now{};
};

class Blockers {
 public:
  /// `queue` outlives the object.
  explicit Blockers(const ClusterQueue& queue);
  /// Of a job of the queue that waits.
  [[nodiscard]] Blocker of(const QueuedJob& job) const;

 private:
  struct NodeView {
    const ClusterNode* node = nullptr;
    std::int64_t free_gpus = 0;
    /// The reservation that has it now, and the next that will.
    const Reservation* in = nullptr;
    const Reservation* next = nullptr;
  };
  /// In order of the cluster's nodes.
  using Views = std::vector<const NodeView*>;
  struct Share;
  [[nodiscard]] Blocker from_slurm(const QueuedJob& job, const WaitReason& reason) const;
  [[nodiscard]] Blocker from_cluster(const QueuedJob& job, const WaitReason& reason) const;
  [[nodiscard]] Blocker partition_of(const QueuedJob& job) const;
  [[nodiscard]] Blocker nodes_of(const QueuedJob& job, const Share& share,
                                 const Views& nodes) const;
  [[nodiscard]] Blocker room_of(const QueuedJob& job, const Share& share, const Views& nodes) const;
  [[nodiscard]] Blocker lack_of(const QueuedJob& job, const Share& share, const Views& open) const;
  [[nodiscard]] Blocker turn_of(const QueuedJob& job, const WaitReason& reason,
                                const Views& nodes) const;
  [[nodiscard]] Views nodes_for(const QueuedJob& job) const;
  [[nodiscard]] std::vector<std::string> running_on(const std::vector<std::string>& nodes) const;

  const ClusterQueue& queue_;
  std::vector<NodeView> nodes_;  // parallel to ClusterQueue::nodes
  struct Place {
    const Partition* partition = nullptr;
    Views nodes;
  };
  std::map<std::string_view, Place> places_;
};

}  // namespace schedmate::slurm
