// SPDX-License-Identifier: Apache-2.0
#include "slurm/snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <span>
#include <tuple>

#include "base/numbering.hpp"
#include "base/text.hpp"
#include "base/words.hpp"

namespace schedmate::slurm {
namespace {

struct Place {
  std::uint32_t pool = 0;
  std::uint32_t node = 0;
};

/// Which nodes are one pool.
class Pools {
 public:
  explicit Pools(const ClusterQueue& queue) {
    std::map<std::string_view, std::size_t> index;
    for (std::size_t i = 0; i < queue.nodes.size(); ++i) index[queue.nodes[i].name] = i;
    std::vector<std::size_t> root(queue.nodes.size());
    std::iota(root.begin(), root.end(), std::size_t{0});
    const auto find = [&](std::size_t i) {
      while (root[i] != i) i = root[i] = root[root[i]];
      return i;
    };
    for (const Partition& partition : queue.partitions) {
      std::optional<std::size_t> first;
      for (const std::string& name : partition.nodes) {
        const auto found = index.find(name);
        if (found == index.end() || queue.nodes[found->second].gpus == 0) continue;
        if (first) root[find(found->second)] = find(*first);
        first = first.value_or(found->second);
      }
    }
    std::map<std::tuple<std::size_t, std::int64_t>, std::uint32_t> numbers;
    for (std::size_t i = 0; i < queue.nodes.size(); ++i) {
      const ClusterNode& node = queue.nodes[i];
      if (node.gpus == 0 || node.partitions.empty()) continue;
      const auto [at, fresh] =
          numbers.try_emplace({find(i), node.gpus}, static_cast<std::uint32_t>(specs.size()));
      if (fresh) {
        PartitionSpec& fresh_one = specs.emplace_back();
        fresh_one.gpus_per_node = static_cast<int>(node.gpus);
        fresh_one.gpu_type = node.gpu_type;
      }
      PartitionSpec& spec = specs[at->second];
      places[node.name] = {at->second, static_cast<std::uint32_t>(spec.nodes++)};
    }
    for (const Partition& partition : queue.partitions)
      for (const std::string& name : partition.nodes) add_partition(partition.name, name);
  }

  /// Of the pools that these partitions reach the one with most of their nodes.
  [[nodiscard]] std::optional<std::uint32_t> of(std::span<const std::string> partitions) const {
    std::map<std::uint32_t, std::size_t> counts;
    for (const std::string& name : partitions) {
      const auto found = reached.find(name);
      if (found == reached.end()) continue;
      for (const auto& [pool, count] : found->second) counts[pool] += count;
    }
    const auto most =
        std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; });
    return most == counts.end() ? std::nullopt : std::optional(most->first);
  }

  std::vector<PartitionSpec> specs;
  std::map<std::string, Place, std::less<>> places;
  std::map<std::string, std::map<std::uint32_t, std::size_t>, std::less<>> reached;

 private:
  void add_partition(const std::string& partition, const std::string& node) {
    const auto place = places.find(node);
    if (place == places.end()) return;
    const std::uint32_t pool = place->second.pool;
    if (++reached[partition][pool] == 1)
      specs[pool].name += (specs[pool].name.empty() ? "" : "+") + partition;
  }
};

/// Whether no other reservation of the node goes on.
bool frees(const Reservation& reservation, const std::string& node, const ClusterQueue& queue) {
  return std::ranges::none_of(queue.reservations, [&](const Reservation& other) {
    return other.start <= reservation.end && other.end > reservation.end &&
           std::ranges::find(other.nodes, node) != other.nodes.end();
  });
}

void add_node_states(const ClusterQueue& queue, const Pools& pools, SnapshotOfQueue& made) {
  auto& changes = made.snapshot.changes;
  for (const ClusterNode& node : queue.nodes) {
    const auto place = pools.places.find(node.name);
    if (place == pools.places.end() || node.takes_jobs) continue;
    changes.push_back({queue.now, place->second.pool, place->second.node, NodeState::drained});
  }
  for (const Reservation& each : queue.reservations) {
    if (each.end <= queue.now) continue;
    for (const std::string& name : each.nodes) {
      const auto place = pools.places.find(name);
      if (place == pools.places.end()) continue;
      const auto [pool, node] = place->second;
      const auto& spec = std::ranges::find(queue.nodes, name, &ClusterNode::name);
      changes.push_back({std::max(queue.now, each.start), pool, node, NodeState::drained});
      if (spec->takes_jobs && frees(each, name, queue))
        changes.push_back({each.end, pool, node, NodeState::up});
    }
    made.notes.push_back(fmt::format(
        "reservation {}: its nodes are taken to start no job of the queue meanwhile", each.name));
  }
  std::ranges::stable_sort(changes, {}, &NodeChange::when);
}

/// Where it runs; empty where that is not known to the GPU.
Placement placement_of(const QueuedJob& job, const Pools& pools, std::uint32_t pool) {
  Placement where;
  for (const HeldNode& held : job.held) {
    if (held.gpus == 0) continue;
    const auto place = pools.places.find(held.name);
    if (place == pools.places.end() || place->second.pool != pool ||
        std::popcount(held.which) != held.gpus)
      return {};
    where.push_back({place->second.node, held.which});
  }
  return where;
}

/// Which limits each job shares with others, by index into the queue's jobs: those of QOS and
/// accounts, and of arrays with "%N" that of its owner.
class SharedLimits {
 public:
  SharedLimits(const ClusterQueue& queue, QueueSnapshot& snapshot) : of_(queue.jobs.size()) {
    for (const GroupLimit& limit : queue.limits)
      add(snapshot, {limit.name, limit.gpus, limit.jobs}, limit.members);
    std::map<std::string_view, std::vector<std::size_t>> arrays;
    for (std::size_t i = 0; i < queue.jobs.size(); ++i)
      if (const std::string_view id = queue.jobs[i].id; id.contains('_'))
        arrays[array_of(id)].push_back(i);
    for (const auto& [array, members] : arrays)
      for (const std::size_t i : members)
        if (const auto most = at_once(queue.jobs[i].id)) {
          add(snapshot, {fmt::format("array {}", array), std::nullopt, most}, members);
          break;
        }
  }

  [[nodiscard]] const std::vector<std::uint32_t>& of(std::size_t job) const { return of_[job]; }

 private:
  /// "2" of "13_[0-3%2]".
  static std::optional<std::int64_t> at_once(std::string_view id) {
    const std::size_t percent = id.rfind('%');
    if (percent == std::string_view::npos) return std::nullopt;
    const auto most =
        parse_number<std::int64_t>(id.substr(percent + 1, id.find(']', percent) - percent - 1));
    return most && *most > 0 ? most : std::nullopt;
  }
  void add(QueueSnapshot& snapshot, SharedLimit limit, const std::vector<std::size_t>& members) {
    for (const std::size_t i : members)
      of_[i].push_back(static_cast<std::uint32_t>(snapshot.limits.size()));
    snapshot.limits.push_back(std::move(limit));
  }
  std::vector<std::vector<std::uint32_t>> of_;
};

/// Whether such a reason is a limit on GPUs or jobs that others' ends give room in.
bool is_of_shared_limit(std::string_view reason) {
  if (reason.starts_with("JobArrayTaskLimit")) return true;
  return (reason.starts_with("QOS") || reason.starts_with("Assoc")) &&
         (reason.contains("GRES") || reason.contains("Jobs")) && !reason.contains("PerJob") &&
         !reason.contains("PerNode") && !reason.contains("Minutes") && !reason.contains("Submit");
}

/// What is not in the snapshot, or not all of it.
struct LeftOut {
  std::int64_t without_gpus = 0, without_nodes = 0, arrays = 0;
  std::string first_array;

  void add_tasks(const QueuedJob& array, std::int64_t taken) {
    if (taken < array.tasks_of_array && ++arrays == 1)
      first_array = fmt::format("{}: {} of {}", array.id, taken, array.tasks_of_array);
  }
  void note(std::vector<std::string>& notes) const {
    const auto jobs = [&](std::int64_t count, std::string_view what) {
      if (count > 0) notes.push_back(fmt::format("left out: {} {}", counted(count, "job"), what));
    };
    jobs(without_gpus, "without GPUs");
    jobs(without_nodes, "of partitions without GPUs");
    if (arrays > 0)
      notes.push_back(fmt::format(
          "of {} not all waiting tasks are replayed, and what comes behind them may start later "
          "(the first array: {})",
          counted(arrays, "array"), first_array));
  }
};

/// Jobs by tier of their partitions and by priority, highest first.
std::vector<std::size_t> in_turn(const ClusterQueue& queue) {
  std::vector<std::size_t> order(queue.jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto tier_of = [&](const QueuedJob& job) {
    std::int64_t tier = 0;
    for (const std::string& name : job.partitions) {
      const auto found = std::ranges::find(queue.partitions, name, &Partition::name);
      if (found != queue.partitions.end()) tier = std::max(tier, found->tier);
    }
    return tier;
  };
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) {
    return std::pair(tier_of(queue.jobs[i]), queue.jobs[i].priority);
  });
  return order;
}

/// Of a running job that of its nodes.
std::optional<std::uint32_t> pool_of_job(const Pools& pools, const QueuedJob& job) {
  if (job.runs())
    for (const HeldNode& held : job.held)
      if (const auto place = pools.places.find(held.name); place != pools.places.end())
        return place->second.pool;
  return pools.of(job.partitions);
}

/// All but which job it is, of one that has a pool.
SnapshotJob waiting_or_running(const ClusterQueue& queue, const Pools& pools, std::uint32_t pool,
                               const QueuedJob& job) {
  SnapshotJob each;
  each.pool = pool;
  each.waits_since = job.submit;
  each.gpus = static_cast<std::int32_t>(std::min<std::int64_t>(job.gpus, 1'000'000));
  each.limit = job.limit;
  each.planned = planned_run_time(queue, job.limit, job.partitions);
  if (job.runs()) {
    each.started = std::min(*job.start, queue.now);
    each.where = placement_of(job, pools, pool);
  }
  return each;
}

}  // namespace

Result<SnapshotOfQueue> snapshot_of(const ClusterQueue& queue, const BeliefOf& belief_of) {
  const Pools pools(queue);
  if (pools.specs.empty()) return fail(ErrorCode::invalid, "no node of a partition has a GPU");
  SnapshotOfQueue made;
  made.snapshot.now = queue.now;
  made.snapshot.pools = pools.specs;
  for (const Partition& partition : queue.partitions)
    if (const auto pool = pools.of({&partition.name, 1})) made.pool_of[partition.name] = *pool;
  add_node_states(queue, pools, made);

  const Blockers blockers(queue);
  const SharedLimits limits(queue, made.snapshot);
  Numbering users;
  LeftOut left_out;
  for (const std::size_t i : in_turn(queue)) {
    const QueuedJob& job = queue.jobs[i];
    if (job.gpus == 0) {
      ++left_out.without_gpus;
      continue;
    }
    const auto pool = pool_of_job(pools, job);
    if (!pool) {
      ++left_out.without_nodes;
      continue;
    }
    SnapshotJob each = waiting_or_running(queue, pools, *pool, job);
    Blocker blocker;
    each.user = users.of(job.user);
    each.limits = limits.of(i);
    const JobBelief belief = belief_of(job);
    each.belief = belief.run_time;
    each.burst = belief.burst;
    each.source = belief.source;
    if (!job.runs()) {
      blocker = blockers.of(job);
      each.kept_out = blocker.waits == Waits::kept_out &&
                      (limits.of(i).empty() || !is_of_shared_limit(job.reason));
      if (blocker.waits == Waits::for_a_time) each.eligible = blocker.until;
    }
    constexpr std::int64_t most_tasks = 256;
    const std::int64_t tasks = job.waits() ? std::min(job.tasks_of_array, most_tasks) : 1;
    left_out.add_tasks(job, tasks);
    for (std::int64_t task = 0; task < tasks; ++task) {
      each.id = task == 0 ? job.id : fmt::format("{}+{}", job.id, task);
      // The order of priorities as one of submissions: a policy that goes by these follows it.
      each.submit = queue.now - Seconds(static_cast<std::int64_t>(queue.jobs.size()) * 256) +
                    Seconds(static_cast<std::int64_t>(made.snapshot.jobs.size()));
      made.snapshot.jobs.push_back(each);
      made.queued.push_back(i);
      made.blockers.push_back(blocker);
    }
  }
  left_out.note(made.notes);
  return made;
}

}  // namespace schedmate::slurm
