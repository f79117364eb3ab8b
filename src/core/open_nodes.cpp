// SPDX-License-Identifier: Apache-2.0
#include "core/open_nodes.hpp"

#include <bit>

namespace schedmate {
namespace {

bool may_use(const NodeSet* among, std::uint32_t node) {
  return among == nullptr || among->has(node);
}

std::uint64_t lowest_of(std::uint64_t free, int count) {
  std::uint64_t rest = free;
  for (int i = 0; i < count; ++i) rest &= rest - 1;
  return free & ~rest;
}

}  // namespace

OpenNodes::OpenNodes(const Cluster& cluster) : cluster_(cluster), is_open_(cluster.node_end()) {
  for (std::uint32_t node = 0; node < cluster.node_end(); ++node) {
    if (!cluster.usable(node)) continue;
    is_open_[node] = true;
    ++left_;
  }
}

void OpenNodes::close(const NodeSet* among) {
  for (std::uint32_t node = 0; node < is_open_.size(); ++node) {
    if (!is_open_[node] || !may_use(among, node)) continue;
    is_open_[node] = false;
    --left_;
  }
}

bool OpenNodes::enough_for(int gang, const NodeSet* among) const {
  int missing = (gang + cluster_.gpus_per_node() - 1) / cluster_.gpus_per_node();
  for (std::uint32_t node = 0; node < is_open_.size() && missing > 0; ++node)
    if (is_open_[node] && may_use(among, node)) --missing;
  return missing <= 0;
}

int OpenNodes::free_gpus(const NodeSet* among) const {
  int free = 0;
  for (std::uint32_t node = 0; node < is_open_.size(); ++node)
    if (is_open_[node] && may_use(among, node)) free += std::popcount(cluster_.free_mask(node));
  return free;
}

/// The fullest node that will do; for more than one the lowest wholly free ones, and for the
/// remainder the emptiest one besides.
Placement OpenNodes::find(int gang, const NodeSet* among) const {
  const int per_node = cluster_.gpus_per_node();
  int whole = gang > per_node ? gang / per_node : 0;
  const int rest = gang - whole * per_node;
  const bool fullest = whole == 0;
  Placement where;
  int free_of_best = 0;
  std::uint32_t best = UINT32_MAX;
  for (std::uint32_t node = 0; node < is_open_.size(); ++node) {
    if (!is_open_[node] || !may_use(among, node)) continue;
    const int free = std::popcount(cluster_.free_mask(node));
    if (whole > 0 && free == per_node) {
      where.push_back({node, cluster_.free_mask(node)});
      --whole;
    } else if (free >= rest && rest > 0 &&
               (best == UINT32_MAX || (fullest ? free < free_of_best : free > free_of_best))) {
      best = node;
      free_of_best = free;
    }
  }
  if (whole > 0 || (rest > 0 && best == UINT32_MAX)) return {};
  if (rest > 0) where.push_back({best, lowest_of(cluster_.free_mask(best), rest)});
  return where;
}

}  // namespace schedmate
