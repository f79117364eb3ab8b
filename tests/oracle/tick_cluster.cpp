// SPDX-License-Identifier: Apache-2.0
#include "tick_cluster.hpp"

#include <algorithm>
#include <functional>

namespace oracle {

TickCluster::TickCluster(int nodes, int gpus_per_node) : gpus_per_node_(gpus_per_node) {
  for (int label = 0; label < nodes; ++label) append_node(label);
}

int TickCluster::Node::free() const {
  return static_cast<int>(std::ranges::count_if(jobs, [](const auto& on) { return on.empty(); }));
}

NodeGpus TickCluster::Node::lowest_free(int gpus) const {
  NodeGpus found{label, {}};
  for (std::size_t gpu = 0; std::ssize(found.gpus) < gpus; ++gpu) {
    if (jobs[gpu].empty()) found.gpus.push_back(static_cast<int>(gpu));
  }
  return found;
}

std::vector<TickCluster::Node>::iterator TickCluster::at(int label) {
  return std::ranges::find(nodes_, label, &Node::label);
}

std::vector<TickCluster::Node>::const_iterator TickCluster::at(int label) const {
  return std::ranges::find(nodes_, label, &Node::label);
}

int TickCluster::gpu_count() const { return static_cast<int>(nodes_.size()) * gpus_per_node_; }

bool TickCluster::has_node(int label) const { return at(label) != nodes_.end(); }

bool TickCluster::idle(int label) const { return at(label)->free() == gpus_per_node_; }

std::vector<int> TickCluster::idle_nodes() const {
  std::vector<int> labels;
  for (const Node& node : nodes_) {
    if (node.free() == gpus_per_node_) labels.push_back(node.label);
  }
  return labels;
}

std::optional<Nodes> TickCluster::find(int gpus) const {
  std::vector<const Node*> order;
  for (const Node& node : nodes_) {
    if (node.free() > 0) order.push_back(&node);
  }
  if (gpus <= gpus_per_node_) {  // the fullest node that has room
    std::ranges::stable_sort(order, std::less(), &Node::free);
    const auto fits = [&](const Node* node) { return node->free() >= gpus; };
    const auto best = std::ranges::find_if(order, fits);
    if (best == order.end()) return std::nullopt;
    return Nodes{(*best)->lowest_free(gpus)};
  }
  // Whole nodes first; what is left over must fit on the very next node of the same order.
  std::ranges::stable_sort(order, std::greater(), &Node::free);
  Nodes found;
  for (const Node* node : order) {
    const int wanted = std::min(gpus, gpus_per_node_);
    if (node->free() < wanted) return std::nullopt;
    found.push_back(node->lowest_free(wanted));
    gpus -= wanted;
    if (gpus == 0) return found;
  }
  return std::nullopt;
}

void TickCluster::claim(std::size_t job, const Nodes& where) {
  for (const auto& [label, gpus] : where) {
    for (const int gpu : gpus) at(label)->jobs[static_cast<std::size_t>(gpu)].push_back(job);
  }
}

void TickCluster::release(std::size_t job, const Nodes& where) {
  for (const auto& [label, gpus] : where) {
    for (const int gpu : gpus) std::erase(at(label)->jobs[static_cast<std::size_t>(gpu)], job);
  }
}

std::size_t TickCluster::first_resident(const Nodes& where) const {
  const NodeGpus& first = where.front();
  return at(first.label)->jobs[static_cast<std::size_t>(first.gpus.front())].front();
}

void TickCluster::append_node(int label) {
  nodes_.push_back(
      {label, std::vector<std::vector<std::size_t>>(static_cast<std::size_t>(gpus_per_node_))});
}

void TickCluster::remove_node(int label) { nodes_.erase(at(label)); }

void TickCluster::relabel(int from, int to) { at(from)->label = to; }

}  // namespace oracle
