// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which nodes of a cluster are one pool, and which of them a job may use.

#include <map>
#include <memory>
#include <schedmate/cluster.hpp>
#include <schedmate/node_set.hpp>
#include <span>

#include "slurm/queue.hpp"

namespace schedmate::slurm {

/// Partitions with nodes in common are one pool; nodes with other numbers of GPUs are another.
class Pools {
 public:
  explicit Pools(const ClusterQueue& queue);

  struct Place {
    std::uint32_t pool = 0;
    std::uint32_t node = 0;
  };
  /// Of a node; nothing: it has no GPUs or no partition.
  [[nodiscard]] std::optional<Place> find(std::string_view node) const;
  /// Of the pools that these partitions reach the one with most of their nodes.
  [[nodiscard]] std::optional<std::uint32_t> of(std::span<const std::string> partitions) const;

  using Nodes = std::shared_ptr<const NodeSet>;
  /// Those of the pool that the job may use, be they up or not: of its partitions, none that it
  /// excludes, those that it names if these are enough, with its features and type of GPU. Nothing:
  /// all. Jobs that may use the same have the same object.
  [[nodiscard]] Nodes usable(const QueuedJob& job, std::uint32_t pool);

  [[nodiscard]] const std::vector<PartitionSpec>& specs() const { return specs_; }

 private:
  void add_partition(const std::string& partition, const std::string& node);
  [[nodiscard]] bool may_use(const QueuedJob& job, const ClusterNode& node) const;

  const ClusterQueue& queue_;
  std::vector<PartitionSpec> specs_;
  std::map<std::string, Place, std::less<>> places_;
  std::map<std::string, std::map<std::uint32_t, std::size_t>, std::less<>> reached_;
  std::map<std::string, Nodes> usable_;  // by all that decides
};

}  // namespace schedmate::slurm
