// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Nodes of a cluster that jobs with nodes of their own (JobInfo::nodes) may still take at one
/// instant, and where on them a gang would go. As in Slurm's main scheduler a job that cannot be
/// placed closes all nodes that it might have had to those behind it.

#include <schedmate/cluster.hpp>
#include <schedmate/node_set.hpp>
#include <vector>

namespace schedmate {

class OpenNodes {
 public:
  /// All that are up. The cluster outlives it and may lose free GPUs meanwhile.
  explicit OpenNodes(const Cluster& cluster);

  [[nodiscard]] bool none() const { return left_ == 0; }
  /// Below, `among` = null: all nodes.
  void close(const NodeSet* among);
  /// Whether so many GPUs would find enough nodes if nothing ran.
  [[nodiscard]] bool enough_for(int gang, const NodeSet* among) const;
  /// As Placer::consolidate chooses; empty where it cannot be placed now.
  [[nodiscard]] Placement find(int gang, const NodeSet* among) const;
  [[nodiscard]] bool has(std::uint32_t node) const { return is_open_[node]; }
  [[nodiscard]] int free_gpus(const NodeSet* among) const;

 private:
  const Cluster& cluster_;
  std::vector<bool> is_open_;  // by node
  int left_ = 0;               // of them
};

}  // namespace schedmate
