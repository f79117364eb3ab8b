// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "whatif/node_use.hpp"

namespace schedmate::whatif {
namespace {

constexpr int most_units = 64;  // of a node: schedmate/cluster.hpp

/// Sets that are joined one by one.
class Sets {
 public:
  explicit Sets(std::size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), 0U); }
  std::uint32_t root(std::uint32_t of) {
    while (parent_[of] != of) of = parent_[of] = parent_[parent_[of]];
    return of;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    a = root(a);
    b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t> parent_;
};

/// Jobs of one partition on one type of GPU; what shares nodes becomes one VC.
struct Pool {
  std::string partition, type;
  auto operator<=>(const Pool&) const = default;
};

struct Pools {
  std::vector<Pool> pools;
  std::vector<std::uint32_t> of_job;  // no_index: does not use the resource
};

Pools find_pools(const AccountingDump& dump, Resource resource) {
  Pools found;
  std::map<Pool, std::uint32_t> index;
  for (const AccountedJob& job : dump.jobs) {
    if (amount_of(job, resource) == 0) {
      found.of_job.push_back(no_index);
      continue;
    }
    const Pool pool{job.partition, resource == Resource::gpus ? job.gpu_type : ""};
    const auto [place, is_new] = index.emplace(pool, static_cast<std::uint32_t>(index.size()));
    if (is_new) found.pools.push_back(pool);
    found.of_job.push_back(place->second);
  }
  return found;
}

/// The nodes that each pool used.
std::vector<std::set<std::uint32_t>> nodes_of(const AccountingDump& dump, const Pools& pools) {
  std::vector<std::set<std::uint32_t>> nodes(pools.pools.size());
  for (std::size_t i = 0; i < dump.jobs.size(); ++i) {
    if (pools.of_job[i] == no_index) continue;
    nodes[pools.of_job[i]].insert(dump.jobs[i].nodes.begin(), dump.jobs[i].nodes.end());
  }
  return nodes;
}

/// Pools that share a node get one root.
Sets join_pools(const std::vector<std::set<std::uint32_t>>& nodes, std::size_t node_count) {
  Sets sets(nodes.size());
  std::vector<std::uint32_t> first(node_count, no_index);
  for (std::uint32_t pool = 0; pool < nodes.size(); ++pool) {
    for (const std::uint32_t node : nodes[pool]) {
      if (first[node] == no_index) first[node] = pool;
      sets.join(first[node], pool);
    }
  }
  return sets;
}

/// One VC that is being put together.
struct Group {
  std::set<std::string> partitions, types;
  std::set<std::uint32_t> nodes;
};

std::string name_of(const Group& group, const std::map<std::string, int>& uses) {
  std::string name = fmt::format("{}", fmt::join(group.partitions, "+"));
  if (name.empty()) name = "all";
  const bool shared = std::ranges::any_of(
      group.partitions, [&](const std::string& partition) { return uses.at(partition) > 1; });
  if (shared) name += fmt::format(":{}", fmt::join(group.types, "+"));
  return name;
}

/// A size that no single job shows may be wrong: jobs that only seemed to run make it too large.
void note_overlap(const std::string& name, const Group& group, const NodeUse& use,
                  InferredCluster& seen) {
  std::int64_t alone = 0;
  std::int64_t together = 0;
  for (const std::uint32_t node : group.nodes) {
    alone = std::max(alone, use.alone[node]);
    together = std::max(together, use.together[node]);
  }
  if (together <= alone) return;
  seen.notes.push_back(fmt::format(
      "{}: {} {} of a node were in use at once, but no single job had more than {} there (too "
      "large because of runaway or suspended jobs? give the cluster with --cluster)",
      name, together, seen.resource == Resource::gpus ? "GPUs" : "CPUs", alone));
}

/// Nodes and GPUs of one VC out of its group, and the sentences about them.
Result<PartitionSpec> describe(const std::string& name, const Group& group, const NodeUse& use,
                               InferredCluster& seen) {
  const bool gpus = seen.resource == Resource::gpus;
  std::int64_t most = 0;
  for (const std::uint32_t node : group.nodes) most = std::max(most, use.most(node));
  const std::int64_t unit =
      gpus ? 1 : std::max<std::int64_t>(1, (most + most_units - 1) / most_units);
  if (gpus && most > most_units) {
    return fail(ErrorCode::invalid,
                fmt::format("a node of {} seems to have {} GPUs at one time, but more than {} are "
                            "implausible; give the cluster with --cluster FILE",
                            name, most, most_units));
  }
  if (unit > 1) seen.notes.push_back(fmt::format("{}: {} CPUs count as one", name, unit));
  if (group.partitions.size() > 1) {
    seen.notes.push_back(fmt::format("the partitions {} share nodes and are one virtual cluster",
                                     fmt::join(group.partitions, ", ")));
  }
  note_overlap(name, group, use, seen);
  const auto full = std::ranges::count_if(
      group.nodes, [&](std::uint32_t node) { return use.most(node) == most; });
  if (most > 0 && full < static_cast<std::ptrdiff_t>(group.nodes.size())) {
    seen.notes.push_back(fmt::format(
        "{}: {} of {} nodes never had more than {} {} in use and are assumed to be like the others",
        name, group.nodes.size() - static_cast<std::size_t>(full), group.nodes.size(), most - 1,
        gpus ? "GPUs" : "CPUs"));
  }
  seen.unit.push_back(unit);
  PartitionSpec spec;
  spec.name = name;
  spec.nodes = static_cast<int>(group.nodes.size());
  spec.gpus_per_node = static_cast<int>(std::max<std::int64_t>(1, (most + unit - 1) / unit));
  spec.gpu_type = fmt::format("{}", fmt::join(group.types, "+"));
  return spec;
}

}  // namespace

Result<InferredCluster> infer_cluster(const AccountingDump& dump) {
  InferredCluster seen = start_cluster(dump);
  const Pools pools = find_pools(dump, seen.resource);
  const auto nodes = nodes_of(dump, pools);
  Sets sets = join_pools(nodes, dump.nodes.size());
  std::map<std::uint32_t, Group> groups;  // by root
  std::map<std::string, int> uses;        // groups that each partition is in
  for (std::uint32_t pool = 0; pool < nodes.size(); ++pool) {
    if (nodes[pool].empty()) continue;
    Group& group = groups[sets.root(pool)];
    const auto& [partition, type] = pools.pools[pool];
    if (group.partitions.insert(partition).second) ++uses[partition];
    if (!type.empty()) group.types.insert(type);
    group.nodes.insert(nodes[pool].begin(), nodes[pool].end());
  }
  if (pools.pools.empty()) {
    return fail(ErrorCode::invalid,
                fmt::format("none of the {} jobs that ran has GPUs or CPUs: AllocTRES (JSON: "
                            "tres.allocated) is empty in all of them; make the dump again with "
                            "that field, from accounting data that has it",
                            dump.jobs.size()));
  }
  if (groups.empty()) {
    return fail(ErrorCode::invalid,
                "the dump names no nodes, so the cluster cannot be inferred from it: add NodeList "
                "to sacct's --format, or give the cluster with --cluster FILE");
  }
  const NodeUse use = node_use(dump, seen.resource);
  std::map<std::uint32_t, std::uint32_t> vc_of_root;
  for (const auto& [root, group] : groups) {
    auto spec = describe(name_of(group, uses), group, use, seen);
    if (!spec) return tl::unexpected(spec.error());
    vc_of_root.emplace(root, static_cast<std::uint32_t>(seen.spec.partitions.size()));
    seen.spec.partitions.push_back(std::move(*spec));
  }
  for (const std::uint32_t pool : pools.of_job) {
    const auto vc = pool == no_index ? vc_of_root.end() : vc_of_root.find(sets.root(pool));
    seen.vc_of_job.push_back(vc == vc_of_root.end() ? no_index : vc->second);
  }
  note_runaways(dump, seen);
  return seen;
}

}  // namespace schedmate::whatif
