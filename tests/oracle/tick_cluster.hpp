// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The oracle's own cluster: for every GPU the list of jobs on it, and nothing precomputed.

#include <cstddef>
#include <optional>
#include <vector>

namespace oracle {

/// GPUs of one node. `label` is the node's printed number, unique within a cluster at any time.
struct NodeGpus {
  int label = 0;
  std::vector<int> gpus;
  bool operator==(const NodeGpus&) const = default;
};
using Nodes = std::vector<NodeGpus>;

inline constexpr int extra_label = 9999;  ///< of a node that was added while running

class TickCluster {
 public:
  TickCluster(int nodes, int gpus_per_node);

  [[nodiscard]] int gpu_count() const;
  [[nodiscard]] std::size_t node_count() const { return nodes_.size(); }
  [[nodiscard]] bool has_node(int label) const;
  [[nodiscard]] bool idle(int label) const;
  [[nodiscard]] std::vector<int> idle_nodes() const;  ///< labels, in list order

  /// Where a gang would go under the rule "consolidate"; nothing when it cannot be placed.
  [[nodiscard]] std::optional<Nodes> find(int gpus) const;
  void claim(std::size_t job, const Nodes& where);
  void release(std::size_t job, const Nodes& where);
  /// The job that has been longest on the first of these GPUs.
  [[nodiscard]] std::size_t first_resident(const Nodes& where) const;

  void append_node(int label);
  void remove_node(int label);
  void relabel(int from, int to);

 private:
  struct Node {
    int label = 0;
    std::vector<std::vector<std::size_t>> jobs;  // [gpu], in order of their claims
    [[nodiscard]] int free() const;
    [[nodiscard]] NodeGpus lowest_free(int gpus) const;
  };
  [[nodiscard]] std::vector<Node>::iterator at(int label);
  [[nodiscard]] std::vector<Node>::const_iterator at(int label) const;

  int gpus_per_node_;
  std::vector<Node> nodes_;
};

}  // namespace oracle
