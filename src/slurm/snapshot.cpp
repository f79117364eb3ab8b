// SPDX-License-Identifier: Apache-2.0
#include "slurm/snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

#include "base/text.hpp"
#include "slurm/pools.hpp"

namespace schedmate::slurm {
namespace {

void add_places(const ClusterQueue& queue, Pools& pools, SnapshotOfQueue& made) {
  for (const Partition& partition : queue.partitions)
    if (const auto pool = pools.of({&partition.name, 1})) {
      QueuedJob any;
      any.partitions = {partition.name};
      made.places[partition.name] = {*pool, pools.usable(any, *pool)};
    }
}

/// It starts no job for that reason alone, and so only until the reservation ends.
bool is_in_maintenance(const ClusterQueue& queue, const ClusterNode& node) {
  if (node.takes_jobs || !node.only_maintenance) return false;
  return std::ranges::any_of(queue.reservations, [&](const Reservation& each) {
    return each.start <= queue.now && each.end > queue.now &&
           std::ranges::find(each.nodes, node.name) != each.nodes.end();
  });
}

void add_node_states(const ClusterQueue& queue, const Pools& pools, SnapshotOfQueue& made) {
  auto& changes = made.snapshot.changes;
  for (const ClusterNode& node : queue.nodes) {
    const auto place = pools.find(node.name);
    if (!place || node.takes_jobs) continue;
    changes.push_back({queue.now, place->pool, place->node, NodeState::drained});
    if (!is_in_maintenance(queue, node))
      made.snapshot.outages.push_back(
          {place->pool, place->node, std::min(queue.now, node.out_since.value_or(queue.now))});
  }
  for (const Reservation& each : queue.reservations) {
    if (each.end <= queue.now) continue;
    for (const std::string& name : each.nodes) {
      const auto place = pools.find(name);
      if (!place) continue;
      const auto [pool, number] = *place;
      const ClusterNode& node = *std::ranges::find(queue.nodes, name, &ClusterNode::name);
      changes.push_back({std::max(queue.now, each.start), pool, number, NodeState::drained});
      if (node.takes_jobs || is_in_maintenance(queue, node))
        changes.push_back({each.end, pool, number, NodeState::up});
    }
    made.notes.push_back(fmt::format(
        "reservation {}: its nodes are taken to start no job of the queue meanwhile", each.name));
  }
  std::ranges::stable_sort(changes, {}, &NodeChange::when);
  if (!made.snapshot.outages.empty())
    made.notes.push_back(fmt::format(
        "until when nodes are down or drained ({} now) is not known: taken is as long again at the "
        "median, at least an hour",
        made.snapshot.outages.size()));
}

/// Where it runs; empty where that is not known to the GPU.
Placement placement_of(const QueuedJob& job, const Pools& pools, std::uint32_t pool) {
  Placement where;
  for (const HeldNode& held : job.held) {
    if (held.gpus == 0) continue;
    const auto place = pools.find(held.name);
    if (!place || place->pool != pool || std::popcount(held.which) != held.gpus) return {};
    where.push_back({place->node, held.which});
  }
  return where;
}

FractionalSeconds planned_by_slurm(const ClusterQueue& queue, const QueuedJob& job) {
  if (job.limit) return *job.limit;
  Seconds planned{365 * 86'400};  // Slurm's own for UNLIMITED
  for (const std::string& name : job.partitions) {
    const auto found = std::ranges::find(queue.partitions, name, &Partition::name);
    if (found != queue.partitions.end() && found->most) planned = std::min(planned, *found->most);
  }
  return planned;
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
        arrays[id.substr(0, id.find('_'))].push_back(i);
    for (const auto& [array, members] : arrays)
      for (const std::size_t i : members)
        if (const auto most = at_once(queue.jobs[i].id)) {
          add(snapshot, {fmt::format("array {}", array), std::nullopt, most}, members);
          break;
        }
  }

  [[nodiscard]] const std::vector<std::uint32_t>& of(std::size_t job) const { return of_[job]; }

  /// "2" of "13_[0-3%2]".
  static std::optional<std::int64_t> at_once(std::string_view id) {
    const std::size_t percent = id.rfind('%');
    if (percent == std::string_view::npos) return std::nullopt;
    const auto most =
        parse_number<std::int64_t>(id.substr(percent + 1, id.find(']', percent) - percent - 1));
    return most && *most > 0 ? most : std::nullopt;
  }

 private:
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

/// The tasks of an array that may wait for GPUs at the same time.
std::int64_t tasks_at_a_time(const QueuedJob& job) {
  constexpr std::int64_t most = 256;
  std::int64_t tasks = std::min(job.tasks_of_array, most);
  if (const auto at_once = SharedLimits::at_once(job.id))
    tasks = std::clamp<std::int64_t>(*at_once, 1, tasks);
  return tasks;
}

std::uint32_t number_of(std::map<std::string, std::uint32_t>& users, const std::string& user) {
  return users.try_emplace(user, static_cast<std::uint32_t>(users.size())).first->second;
}

/// Jobs by tier of their partitions and by priority, highest first.
std::vector<std::size_t> in_turn(const ClusterQueue& queue, const Ranks& ranks) {
  std::vector<std::size_t> order(queue.jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) {
    return std::pair(ranks.tier_of(queue.jobs[i].partitions), queue.jobs[i].priority);
  });
  return order;
}

void believe(const JobBelief& belief, SnapshotJob& job) {
  job.belief = belief.run_time;
  job.burst = belief.burst;
  job.source = belief.source;
}

/// Whether too few of its nodes are up for the replay to start it before others come back.
bool waits_for_nodes(const QueueSnapshot& snapshot, const SnapshotJob& job) {
  const PartitionSpec& pool = snapshot.pools[job.pool];
  std::int64_t up = job.nodes ? job.nodes->size() : pool.nodes;
  for (const NodeOutage& out : snapshot.outages)
    if (out.pool == job.pool && (!job.nodes || job.nodes->has(out.node))) --up;
  return up * pool.gpus_per_node < job.gpus;
}

/// Of a running job that of its nodes.
std::optional<std::uint32_t> pool_of_job(const Pools& pools, const QueuedJob& job) {
  if (job.runs())
    for (const HeldNode& held : job.held)
      if (const auto place = pools.find(held.name)) return place->pool;
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
  each.planned = planned_by_slurm(queue, job);
  if (job.runs()) {
    each.started = std::min(*job.start, queue.now);
    each.where = placement_of(job, pools, pool);
  }
  return each;
}

}  // namespace

Result<SnapshotOfQueue> snapshot_of(const ClusterQueue& queue, const BeliefOf& belief_of) {
  Pools pools(queue);
  if (pools.specs().empty()) return fail(ErrorCode::invalid, "no node of a partition has a GPU");
  SnapshotOfQueue made;
  made.ranks = Ranks(queue);
  made.snapshot.now = queue.now;
  made.snapshot.pools = pools.specs();
  add_places(queue, pools, made);
  add_node_states(queue, pools, made);

  const Blockers blockers(queue);
  const SharedLimits limits(queue, made.snapshot);
  std::map<std::string, std::uint32_t> users;
  std::int64_t without_gpus = 0, without_nodes = 0;
  for (const std::size_t i : in_turn(queue, made.ranks)) {
    const QueuedJob& job = queue.jobs[i];
    if (job.gpus == 0) {
      ++without_gpus;
      continue;
    }
    const auto pool = pool_of_job(pools, job);
    if (!pool) {
      ++without_nodes;
      continue;
    }
    SnapshotJob each = waiting_or_running(queue, pools, *pool, job);
    Blocker blocker;
    each.user = number_of(users, job.user);
    each.limits = limits.of(i);
    believe(belief_of(job), each);
    each.rank = made.ranks.of(job);
    if (!job.runs()) {
      each.nodes = pools.usable(job, *pool);
      blocker = blockers.of(job);
      each.kept_out = blocker.waits == Waits::kept_out &&
                      (limits.of(i).empty() || !is_of_shared_limit(job.reason)) &&
                      (blocker.kind != "nodes" || !waits_for_nodes(made.snapshot, each));
      if (blocker.waits == Waits::for_a_time) each.eligible = blocker.until;
    }
    const std::int64_t tasks = job.waits() ? tasks_at_a_time(job) : 1;
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
  if (without_gpus > 0)
    made.notes.push_back(fmt::format("{} jobs ask for no GPU and are left out", without_gpus));
  if (without_nodes > 0)
    made.notes.push_back(
        fmt::format("{} jobs are of partitions without GPUs and are left out", without_nodes));
  return made;
}

}  // namespace schedmate::slurm
