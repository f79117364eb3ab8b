// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <ranges>
#include <set>

#include "base/text.hpp"
#include "whatif/world.hpp"

namespace schedmate {
namespace {

constexpr int most_units = 64;  // of a node: schedmate/cluster.hpp
/// A level of use that is believed.
constexpr Seconds least_time{60};

std::int64_t amount(const AccountedJob& job, Resource resource) {
  return resource == Resource::gpus ? job.gpus : job.cpus;
}

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
    if (amount(job, resource) == 0) {
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

/// What a job had on each of its nodes, taken to be spread evenly; what does not divide is left
/// out, so that the figure never exceeds what was there.
std::int64_t share_of(const AccountedJob& job, Resource resource) {
  return amount(job, resource) / static_cast<std::int64_t>(job.nodes.size());
}

/// The highest level at which, or above which, the node was for `least_time` altogether.
std::int64_t held_level(const std::map<std::int64_t, Seconds>& time_at) {
  Seconds above{0};
  for (const auto& [level, time] : std::views::reverse(time_at)) {
    above += time;
    if (above >= least_time) return level;
  }
  return 0;
}

/// The most of the resource that was in use on each node at one time: by one job, or by all of them
/// for a minute altogether. (Ends and starts overlap for seconds when jobs are requeued.)
std::vector<std::int64_t> peaks(const AccountingDump& dump, Resource resource) {
  struct Change {
    std::uint32_t node;
    SimTime at;
    std::int64_t by;
    auto operator<=>(const Change&) const = default;
  };
  std::vector<Change> changes;
  std::vector<std::int64_t> most(dump.nodes.size());
  for (const AccountedJob& job : dump.jobs) {
    for (const std::uint32_t node : job.nodes) {
      const std::int64_t share = share_of(job, resource);
      changes.push_back({node, job.start, share});
      changes.push_back({node, job.end, -share});
      most[node] = std::max(most[node], share);
    }
  }
  std::ranges::sort(changes);  // by node, then time; at one instant ends come first
  std::map<std::int64_t, Seconds> time_at;
  std::int64_t now = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Change& change = changes[i];
    now += change.by;
    const bool last = i + 1 == changes.size() || changes[i + 1].node != change.node;
    if (!last) {
      time_at[now] += changes[i + 1].at - change.at;
      continue;
    }
    most[change.node] = std::max(most[change.node], held_level(time_at));
    time_at.clear();
    now = 0;
  }
  return most;
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

/// Nodes and GPUs of one VC out of its group, and the sentences about them.
Result<PartitionSpec> describe(const std::string& name, const Group& group,
                               const std::vector<std::int64_t>& peak, SeenCluster& seen) {
  const bool gpus = seen.resource == Resource::gpus;
  std::int64_t most = 0;
  for (const std::uint32_t node : group.nodes) most = std::max(most, peak[node]);
  const std::int64_t unit =
      gpus ? 1 : std::max<std::int64_t>(1, (most + most_units - 1) / most_units);
  if (gpus && most > most_units) {
    return fail(ErrorCode::invalid,
                fmt::format("a node of {} seems to have {} GPUs at one time, more than the {} that "
                            "are believed; give the cluster with --cluster FILE",
                            name, most, most_units));
  }
  if (unit > 1) seen.notes.push_back(fmt::format("{}: {} CPUs count as one", name, unit));
  if (group.partitions.size() > 1) {
    seen.notes.push_back(fmt::format("the partitions {} share nodes and are one virtual cluster",
                                     fmt::join(group.partitions, ", ")));
  }
  const auto full =
      std::ranges::count_if(group.nodes, [&](std::uint32_t node) { return peak[node] == most; });
  if (most > 0 && full < static_cast<std::ptrdiff_t>(group.nodes.size())) {
    seen.notes.push_back(fmt::format(
        "{}: {} of {} nodes never had more than {} {} in use and are taken to be like the others",
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

Resource resource_of(const AccountingDump& dump) {
  const bool any = std::ranges::any_of(dump.jobs, [](const AccountedJob& j) { return j.gpus > 0; });
  return any ? Resource::gpus : Resource::cpus;
}

void note_resource(SeenCluster& seen) {
  if (seen.resource == Resource::cpus)
    seen.notes.emplace_back("no job of the dump has GPUs: CPUs take their place");
}

}  // namespace

Result<SeenCluster> see_cluster(const AccountingDump& dump) {
  SeenCluster seen;
  seen.resource = resource_of(dump);
  note_resource(seen);
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
  if (groups.empty()) {
    return fail(ErrorCode::invalid,
                "the dump names no nodes, so the cluster cannot be told from it: add NodeList to "
                "sacct's --format, or give the cluster with --cluster FILE");
  }
  const auto peak = peaks(dump, seen.resource);
  std::map<std::uint32_t, std::uint32_t> vc_of_root;
  for (const auto& [root, group] : groups) {
    auto spec = describe(name_of(group, uses), group, peak, seen);
    if (!spec) return tl::unexpected(spec.error());
    vc_of_root.emplace(root, static_cast<std::uint32_t>(seen.spec.partitions.size()));
    seen.spec.partitions.push_back(std::move(*spec));
  }
  for (const std::uint32_t pool : pools.of_job) {
    const auto vc = pool == no_index ? vc_of_root.end() : vc_of_root.find(sets.root(pool));
    seen.vc_of_job.push_back(vc == vc_of_root.end() ? no_index : vc->second);
  }
  return seen;
}

Result<SeenCluster> map_cluster(const AccountingDump& dump, ClusterSpec spec) {
  SeenCluster seen;
  seen.resource = resource_of(dump);
  note_resource(seen);
  seen.spec = std::move(spec);
  seen.unit.assign(seen.spec.partitions.size(), 1);
  // "a+b:v100": partitions a and b on V100s.
  std::map<std::pair<std::string, std::string>, std::uint32_t, std::less<>> vcs;
  for (std::uint32_t vc = 0; vc < seen.spec.partitions.size(); ++vc) {
    const std::string_view name = seen.spec.partitions[vc].name;
    const std::size_t colon = std::min(name.find(':'), name.size());
    const std::string_view types = name.substr(std::min(colon + 1, name.size()));
    for (const std::string_view partition : split(name.substr(0, colon), '+')) {
      for (const std::string_view type : split(types, '+'))
        vcs.emplace(std::pair(std::string(partition), std::string(type)), vc);
    }
  }
  std::set<std::string> unknown;
  for (const AccountedJob& job : dump.jobs) {
    std::uint32_t vc = no_index;
    if (amount(job, seen.resource) > 0) {
      auto found = vcs.find(std::pair(job.partition, job.gpu_type));
      if (found == vcs.end()) found = vcs.find(std::pair(job.partition, std::string()));
      if (found != vcs.end()) vc = found->second;
      if (found == vcs.end()) unknown.insert(job.partition);
    }
    seen.vc_of_job.push_back(vc);
  }
  if (!unknown.empty()) {
    seen.notes.push_back(
        fmt::format("the cluster file has no virtual cluster for the partitions "
                    "{}; their jobs are left out",
                    fmt::join(unknown, ", ")));
  }
  return seen;
}

}  // namespace schedmate
