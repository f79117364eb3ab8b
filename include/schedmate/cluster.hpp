// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The cluster. `ClusterSpec` is what a file says; `Cluster` is the live state of one virtual
/// cluster (VC): its nodes and which GPU holds which job. VCs never share nodes, so each has its
/// own Cluster. Placing a job costs the same however many nodes there are (buckets of nodes by
/// their free GPUs). Not thread-safe; a copy is independent.

#include <array>
#include <cstdint>
#include <schedmate/job_map.hpp>
#include <schedmate/result.hpp>
#include <schedmate/time.hpp>
#include <span>
#include <string>
#include <vector>

namespace schedmate {

/// A virtual cluster, partition or queue with GPUs of its own.
struct PartitionSpec {
  std::string name;
  /// All alike.
  int nodes = 0;
  /// 1 to 64.
  int gpus_per_node = 8;
  /// Decisions fall only at multiples of this on the trace's clock.
  Seconds round{1};
  /// Free text, "" when unknown.
  std::string gpu_type;
  /// Of one GPU. 24 GiB: the RTX 3090 of Lucid's tables.
  std::int64_t gpu_memory_mib = 24'576;
};

/// docs/formats/cluster.md.
struct ClusterSpec {
  std::vector<PartitionSpec> partitions;
};

/// GPUs of one node; bit g of `gpus` is GPU g.
struct Slice {
  std::uint32_t node = 0;
  std::uint64_t gpus = 0;
  bool operator==(const Slice&) const = default;
};
using Placement = std::vector<Slice>;  ///< in placement order

enum class Placer : std::uint8_t {
  consolidate,  ///< best fit on one node, else wholly free nodes; waits otherwise
  first_fit,    ///< lowest nodes first, taking whatever is free
  spread,       ///< emptiest nodes first, taking whatever is free
};

/// What is known of a node, where anything is.
struct NodeSpec {
  std::string name;             ///< "" = its label will do
  std::string type;             ///< free text
  int cpus = 0;                 ///< 0 = unknown
  std::int64_t memory_mib = 0;  ///< of the host; 0 = unknown
};

enum class NodeState : std::uint8_t {
  up,
  drained,  ///< nothing starts there; what runs there runs on
  down,     ///< nothing runs there
};

/// Set of small integers with ordered look-up in O(log64 n).
class IndexSet {
 public:
  /// Members are below `capacity`; those that it had stay.
  void resize(std::uint32_t capacity);
  void insert(std::uint32_t i);
  void erase(std::uint32_t i);
  /// Smallest member >= `from`, or UINT32_MAX.
  [[nodiscard]] std::uint32_t next(std::uint32_t from) const;

 private:
  std::vector<std::vector<std::uint64_t>> levels_;  // [0] = members, [k] = non-empty words below
};

/// The driver owns it and a policy reads it (policy.hpp). What it is asked to do must be possible:
/// a claim of a GPU without room, or a second one for a job, ends the program. Node indices and GPU
/// numbers begin at 0.
class Cluster {
 public:
  /// Jobs on one GPU.
  static constexpr int max_sharing = 4;
  Cluster(const PartitionSpec& spec, Placer placer);

  [[nodiscard]] Placer placer() const { return placer_; }
  [[nodiscard]] double gpu_memory_mib() const { return gpu_memory_mib_; }
  [[nodiscard]] int gpus_per_node() const { return gpus_per_node_; }
  [[nodiscard]] int total_gpus() const { return total_gpus_; }  ///< of nodes that are up
  [[nodiscard]] int free_gpus() const { return free_gpus_; }    ///< likewise
  /// GPUs of drained nodes that jobs still hold.
  [[nodiscard]] int draining_gpus() const { return draining_gpus_; }
  /// Free GPUs on nodes that also have busy ones.
  [[nodiscard]] int stranded_gpus() const;
  [[nodiscard]] int node_count() const { return nodes_up_; }  ///< that are up

  /// Where a gang of `gpus` would go now, on free GPUs alone; false when it cannot be placed. `out`
  /// is overwritten.
  [[nodiscard]] bool find(int gpus, Placement& out) const;
  /// Whether find() would be true.
  [[nodiscard]] bool fits(int gpus) const;
  /// The first node from `from` on with exactly that many free GPUs, or UINT32_MAX.
  [[nodiscard]] std::uint32_t node_with_free(int gpus, std::uint32_t from) const {
    return by_free_[static_cast<std::size_t>(gpus)].next(from);
  }

  /// Gives `job` those GPUs of nodes that are up (free or shared with at most max_sharing - 1
  /// others each).
  void claim(JobId job, Placement where);
  /// Takes its GPUs back and returns them.
  Placement release(JobId job);
  /// The GPUs `job` holds; empty when it holds none.
  [[nodiscard]] const Placement& allocation(JobId job) const;
  /// Jobs on one GPU, in order of their claims.
  [[nodiscard]] std::span<const JobId> residents(std::uint32_t node, int gpu) const;
  /// The jobs that hold GPUs of a node, each once.
  [[nodiscard]] std::vector<JobId> jobs_on(std::uint32_t node) const;
  /// GPUs on which a job may start; none unless the node is up.
  [[nodiscard]] std::uint64_t free_mask(std::uint32_t node) const { return nodes_[node].free; }
  /// One past the highest node index in use; some below may have been removed.
  [[nodiscard]] std::uint32_t node_end() const { return static_cast<std::uint32_t>(nodes_.size()); }
  [[nodiscard]] bool active(std::uint32_t node) const { return nodes_[node].active; }

  /// Nodes may come and go. A label is what outputs print; an index is never used again.
  std::uint32_t add_node(std::uint32_t label);
  void remove_node(std::uint32_t node);  ///< must be idle
  [[nodiscard]] std::uint32_t label(std::uint32_t node) const { return nodes_[node].label; }
  void relabel(std::uint32_t node, std::uint32_t label) { nodes_[node].label = label; }

  /// Nodes may go bad. Before one goes down its jobs are released, which is up to the driver.
  void set_state(std::uint32_t node, NodeState state);
  [[nodiscard]] NodeState state(std::uint32_t node) const { return nodes_[node].state; }
  /// In use and up.
  [[nodiscard]] bool usable(std::uint32_t node) const {
    return nodes_[node].active && nodes_[node].state == NodeState::up;
  }
  void describe(std::uint32_t node, NodeSpec spec);
  [[nodiscard]] const NodeSpec& spec(std::uint32_t node) const;

 private:
  struct Node {
    std::uint64_t free = 0;  // bit set = free GPU
    std::uint32_t label = 0;
    bool active = false;
    NodeState state = NodeState::up;
  };
  struct Residents {
    std::array<JobId, max_sharing> jobs{};
    std::uint8_t count = 0;
  };
  [[nodiscard]] bool find_consolidated(int gpus, Placement& out) const;
  [[nodiscard]] bool find_anywhere(int gpus, Placement& out) const;
  void set_free(std::uint32_t node, std::uint64_t mask);
  void open(std::uint32_t node);
  void close(std::uint32_t node);
  Residents& gpu(std::uint32_t node, int g);

  int gpus_per_node_;
  double gpu_memory_mib_;
  Placer placer_;
  int total_gpus_ = 0;
  int free_gpus_ = 0;
  int draining_gpus_ = 0;
  int nodes_up_ = 0;
  std::vector<Node> nodes_;
  std::vector<NodeSpec> specs_;       // of the first nodes: none while nobody has described one
  std::vector<Residents> residents_;  // node * gpus_per_node + gpu
  std::vector<IndexSet> by_free_;     // [k] = nodes with k free GPUs
  std::vector<int> nodes_with_free_;  // [k] = how many of them
  JobMap<Placement> allocations_;     // of those that hold GPUs
};

}  // namespace schedmate
