// SPDX-License-Identifier: Apache-2.0
#include "slurm/snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

#include "base/numbering.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
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
      if ((node.takes_jobs || is_in_maintenance(queue, node)) && frees(each, name, queue))
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
  each.planned = planned_run_time(queue, job.limit, job.partitions);
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
  Numbering users;
  LeftOut left_out;
  for (const std::size_t i : in_turn(queue, made.ranks)) {
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
