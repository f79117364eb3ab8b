// SPDX-License-Identifier: Apache-2.0
#include "sim/node_echo.hpp"

#include <bit>
#include <optional>

namespace schedmate::sim {
namespace {

constexpr std::uint32_t borrowed = 9999;

std::optional<std::uint32_t> find_label(const Cluster& cluster, std::uint32_t label) {
  for (std::uint32_t node = 0; node < cluster.node_end(); ++node) {
    if (cluster.active(node) && cluster.label(node) == label) return node;
  }
  return std::nullopt;
}

}  // namespace

void NodeEcho::follow(Cluster& cluster) {
  const int change = changes_.front().second;
  changes_ = changes_.subspan(1);
  ++followed_;
  if (change > 0) return give_up_idle_node(cluster);
  if (!find_label(cluster, borrowed)) cluster.add_node(borrowed);
}

void NodeEcho::give_up_idle_node(Cluster& cluster) {
  std::optional<std::uint32_t> idle;  // the one with the highest printed number
  for (std::uint32_t node = 0; node < cluster.node_end(); ++node) {
    const bool free =
        cluster.active(node) && std::popcount(cluster.free_mask(node)) == cluster.gpus_per_node();
    if (free && (!idle || cluster.label(node) > cluster.label(*idle))) idle = node;
  }
  if (!idle) return;
  const auto extra = find_label(cluster, borrowed);
  if (extra && *extra != *idle && removed_before_) cluster.relabel(*extra, cluster.label(*idle));
  cluster.remove_node(*idle);
  removed_before_ = true;
}

}  // namespace schedmate::sim
