// SPDX-License-Identifier: Apache-2.0
#include "slurm/pools.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/text.hpp"

namespace schedmate::slurm {
namespace {

bool is_among(std::span<const std::string> names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// "a&b|c": in groups one of each. What else Slurm knows (counts, brackets in brackets) is taken to
/// ask for nothing.
bool has_features(const ClusterNode& node, std::string_view wanted) {
  if (wanted.find_first_of("*()") != std::string_view::npos) return true;
  return std::ranges::all_of(split(wanted, '&'), [&](std::string_view group) {
    if (group.starts_with('[')) group.remove_prefix(1);
    if (group.ends_with(']')) group.remove_suffix(1);
    return std::ranges::any_of(split(group, '|'), [&](std::string_view feature) {
      return feature.empty() || is_among(node.features, std::string(feature));
    });
  });
}

/// Where both say which they mean.
bool has_gpu_type(const ClusterNode& node, std::string_view wanted) {
  if (wanted.empty() || node.gpu_type.empty()) return true;
  const auto there = split(node.gpu_type, ',');
  return std::ranges::any_of(split(wanted, ','), [&](std::string_view type) {
    return std::ranges::find(there, type) != there.end();
  });
}

/// None where they are fewer than it needs, so that it takes others, too.
std::span<const std::string> nodes_named(const QueuedJob& job) {
  const bool enough = std::ssize(job.required_nodes) >= job.nodes;
  return enough ? std::span(job.required_nodes) : std::span<const std::string>();
}

}  // namespace

Pools::Pools(const ClusterQueue& queue) : queue_(queue) {
  std::map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < queue.nodes.size(); ++i) index[queue.nodes[i].name] = i;
  std::vector<std::size_t> root(queue.nodes.size());
  std::iota(root.begin(), root.end(), std::size_t{0});
  const auto find_root = [&](std::size_t i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
  };
  for (const Partition& partition : queue.partitions) {
    std::optional<std::size_t> first;
    for (const std::string& name : partition.nodes) {
      const auto found = index.find(name);
      if (found == index.end() || queue.nodes[found->second].gpus == 0) continue;
      if (first) root[find_root(found->second)] = find_root(*first);
      first = first.value_or(found->second);
    }
  }
  std::map<std::tuple<std::size_t, std::int64_t>, std::uint32_t> numbers;
  for (std::size_t i = 0; i < queue.nodes.size(); ++i) {
    const ClusterNode& node = queue.nodes[i];
    if (node.gpus == 0 || node.partitions.empty()) continue;
    const auto [at, fresh] =
        numbers.try_emplace({find_root(i), node.gpus}, static_cast<std::uint32_t>(specs_.size()));
    if (fresh) {
      PartitionSpec& fresh_one = specs_.emplace_back();
      fresh_one.gpus_per_node = static_cast<int>(node.gpus);
      fresh_one.gpu_type = node.gpu_type;
    }
    PartitionSpec& spec = specs_[at->second];
    places_[node.name] = {at->second, static_cast<std::uint32_t>(spec.nodes++)};
  }
  for (const Partition& partition : queue.partitions)
    for (const std::string& name : partition.nodes) add_partition(partition.name, name);
}

void Pools::add_partition(const std::string& partition, const std::string& node) {
  const auto place = places_.find(node);
  if (place == places_.end()) return;
  const std::uint32_t pool = place->second.pool;
  if (++reached_[partition][pool] == 1)
    specs_[pool].name += (specs_[pool].name.empty() ? "" : "+") + partition;
}

std::optional<Pools::Place> Pools::find(std::string_view node) const {
  const auto found = places_.find(node);
  return found == places_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::uint32_t> Pools::of(std::span<const std::string> partitions) const {
  std::map<std::uint32_t, std::size_t> counts;
  for (const std::string& name : partitions) {
    const auto found = reached_.find(name);
    if (found == reached_.end()) continue;
    for (const auto& [pool, count] : found->second) counts[pool] += count;
  }
  const auto most =
      std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; });
  return most == counts.end() ? std::nullopt : std::optional(most->first);
}

/// But for its partitions.
bool Pools::may_use(const QueuedJob& job, const ClusterNode& node) const {
  return !is_among(job.excluded_nodes, node.name) &&
         (nodes_named(job).empty() || is_among(nodes_named(job), node.name)) &&
         has_features(node, job.features) && has_gpu_type(node, job.gpu_types);
}

Pools::Nodes Pools::usable(const QueuedJob& job, std::uint32_t pool) {
  const auto key = fmt::format("{} {} {} {} {} {}", pool, fmt::join(job.partitions, ","),
                               fmt::join(job.excluded_nodes, ","), fmt::join(nodes_named(job), ","),
                               job.features, job.gpu_types);
  const auto [known, fresh] = usable_.try_emplace(key);
  if (!fresh) return known->second;
  std::map<std::string_view, const ClusterNode*> nodes;
  for (const ClusterNode& node : queue_.nodes) nodes[node.name] = &node;
  NodeSet found;
  for (const Partition& partition : queue_.partitions) {
    if (!is_among(job.partitions, partition.name)) continue;
    for (const std::string& name : partition.nodes)
      if (const auto place = find(name);
          place && place->pool == pool && may_use(job, *nodes.at(name)))
        found.insert(place->node);
  }
  if (found.size() < specs_[pool].nodes) known->second = std::make_shared<const NodeSet>(found);
  return known->second;
}

}  // namespace schedmate::slurm
