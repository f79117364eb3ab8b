// SPDX-License-Identifier: Apache-2.0
#include "eta/pool_replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <utility>

#include "core/open_nodes.hpp"

namespace schedmate::eta {
namespace {

JobInfo info_of(const SnapshotJob& job) {
  JobInfo info;
  info.id = job.id;
  info.user = job.user;
  info.gpus = job.gpus;
  info.submit = job.submit;
  info.entered = job.eligible ? std::max(job.submit, *job.eligible) : job.submit;
  info.estimate = info.expected = job.planned;
  info.nodes = job.nodes.get();
  info.rank = job.rank;
  info.order = job.order;
  info.running = job.started.has_value();
  if (info.running) info.run_since = *job.started;
  return info;
}

/// Jobs may share GPUs.
bool has_room(const Cluster& cluster, const Slice& slice) {
  for (std::uint64_t rest = slice.gpus; rest != 0; rest &= rest - 1) {
    const int gpu = std::countr_zero(rest);
    if (gpu >= cluster.gpus_per_node()) return false;
    if (std::ssize(cluster.residents(slice.node, gpu)) >= Cluster::max_sharing) return false;
  }
  return true;
}

/// Any free GPUs, lowest nodes first; empty when there are too few.
Placement anywhere(const Cluster& cluster, int gpus) {
  Placement where;
  for (std::uint32_t node = 0; node < cluster.node_end() && gpus > 0; ++node) {
    std::uint64_t taken = 0;
    for (std::uint64_t free = cluster.free_mask(node); free != 0 && gpus > 0; free &= free - 1) {
      taken |= free & (~free + 1);
      --gpus;
    }
    if (taken != 0) where.push_back({node, taken});
  }
  return gpus == 0 ? where : Placement();
}

}  // namespace

Result<PoolReplay> PoolReplay::make(const QueueSnapshot& snapshot, std::uint32_t pool,
                                    std::span<const SnapshotJob> jobs, const Scheduler& scheduler) {
  PoolReplay made(snapshot, pool, jobs, scheduler);
  for (std::uint32_t i = 0; i < made.jobs_.size(); ++i)
    made.infos_[JobId{i}] = info_of(made.jobs_[i]);
  if (auto placed = made.place_running(); !placed) return tl::unexpected(placed.error());
  for (const NodeChange& change : snapshot.changes) {
    if (change.pool != pool) continue;
    if (change.node >= made.cluster_.node_end())
      return fail(ErrorCode::invalid, fmt::format("partition {} has no node {}",
                                                  snapshot.pools[pool].name, change.node));
    made.changes_.push_back(change);
  }
  made.change_nodes();
  made.note_blocks();
  made.tell_policy();
  return made;
}

Result<void> PoolReplay::place_running() {
  const auto refuse = [&](std::uint32_t i, std::string_view what) {
    return fail(ErrorCode::invalid, fmt::format("job {} runs {}", jobs_[i].id, what));
  };
  for (const bool given : {true, false})
    for (std::uint32_t i = 0; i < jobs_.size(); ++i) {
      const SnapshotJob& job = jobs_[i];
      if (!job.started || job.where.empty() == given) continue;
      if (*job.started > now_) return refuse(i, "since a time after the snapshot's");
      Placement where = job.where;
      if (!given && !cluster_.find(job.gpus, where)) {
        // Its real place is not known, and the others leave none that a placer would choose.
        where = anywhere(cluster_, job.gpus);
        if (where.empty()) return refuse(i, "on more GPUs than are left in its partition");
      }
      int held = 0;
      for (const Slice& slice : where) {
        if (slice.node >= cluster_.node_end())
          return refuse(i, "on a node that is not in its partition");
        if (!has_room(cluster_, slice)) return refuse(i, "on GPUs that are full");
        const auto doubled = [&](const Slice& other) {
          return &other < &slice && other.node == slice.node && (other.gpus & slice.gpus) != 0;
        };
        if (std::ranges::any_of(where, doubled)) return refuse(i, "on a GPU that it has twice");
        held += std::popcount(slice.gpus);
      }
      if (held != job.gpus) return refuse(i, "on another number of GPUs than it has");
      cluster_.claim(JobId{i}, std::move(where));
    }
  return {};
}

void PoolReplay::change_nodes() {
  std::ranges::stable_sort(changes_, {}, &NodeChange::when);
  const auto past = std::ranges::upper_bound(changes_, now_, {}, &NodeChange::when);
  for (auto change = changes_.begin(); change != past; ++change)
    cluster_.set_state(change->node, without_jobs_lost(change->state));
  changes_.erase(changes_.begin(), past);
}

/// Whether enough nodes of its own are up, or will be.
bool PoolReplay::has_nodes(const SnapshotJob& job, std::span<const NodeChange> returns) const {
  const int per_node = cluster_.gpus_per_node();
  const int needed = (job.gpus + per_node - 1) / per_node;
  if (!job.nodes && needed <= cluster_.node_count()) return true;
  NodeSet there;
  const auto add = [&](std::uint32_t node) {
    if (!job.nodes || job.nodes->has(node)) there.insert(node);
  };
  for (std::uint32_t node = 0; node < cluster_.node_end(); ++node)
    if (cluster_.usable(node)) add(node);
  for (const auto changes : {std::span<const NodeChange>(changes_), returns})
    for (const NodeChange& change : changes)
      if (change.state == NodeState::up) add(change.node);
  return there.size() >= needed;
}

void PoolReplay::note_blocks() {
  const OpenNodes open(cluster_);
  for (std::uint32_t i = 0; i < jobs_.size(); ++i) {
    const SnapshotJob& job = jobs_[i];
    const auto never_room = admission_.never_room_for(i);
    // Nodes that are drained may come back.
    const std::int64_t nodes = job.nodes ? job.nodes->size() : cluster_.node_end();
    const bool too_large = job.gpus > nodes * cluster_.gpus_per_node();
    const auto block = [&] {
      if (job.started) return QueueBlock::none;
      if (job.kept_out) return QueueBlock::kept_out;
      if (job.eligible && *job.eligible > now_) return QueueBlock::too_early;
      if (too_large) return QueueBlock::too_large;
      if (never_room) return QueueBlock::shared_limit;
      const NodeSet* const own = job.nodes.get();
      if (job.gpus > (own != nullptr ? open.free_gpus(own) : cluster_.free_gpus()))
        return QueueBlock::gpus;
      const bool fits =
          own != nullptr ? !open.find(job.gpus, own).empty() : cluster_.fits(job.gpus);
      return fits ? QueueBlock::priority : QueueBlock::fragmentation;
    };
    blocks_.push_back(block());
    limits_.push_back(never_room);
    can_start_.push_back(!job.kept_out && !too_large && !never_room);
    if (!job.started && can_start_.back() && !has_nodes(job, {})) lack_nodes_.push_back(i);
  }
}

void PoolReplay::tell_policy() {
  std::vector<JobId> arrived, adopted;
  for (std::uint32_t i = 0; i < jobs_.size(); ++i) {
    const JobId id{i};
    if (infos_.at(id).running)
      adopted.push_back(id);
    else if (std::ranges::binary_search(lack_nodes_, i))
      continue;  // as of Slurm, it is in nobody's way until they are back
    else if (can_start_[i] && blocks_[i] == QueueBlock::too_early)
      eligible_.emplace_back(*jobs_[i].eligible, i);
    else if (can_start_[i])
      admission_.enter(i);
  }
  std::vector<std::uint32_t> admitted;
  admission_.admit(admitted);
  for (const std::uint32_t i : admitted) arrived.push_back(JobId{i});
  for (const std::uint32_t i : admission_.passed_over()) note_limit(i);
  std::ranges::sort(eligible_);
  std::ranges::stable_sort(adopted, {}, [&](JobId id) { return infos_.at(id).run_since; });
  Plan plan(cluster_, now_);
  plan.clear(now_);
  RoomBesidePlan room(admission_, plan, [](JobId id) { return index_of(id); });
  const HasRoom has_room = std::ref(room);
  policy_({.now = now_,
           .arrived = arrived,
           .ended = {},
           .jobs = infos_,
           .cluster = cluster_,
           .preemption = {},
           .adopted = adopted,
           .has_room = admission_.at_start() ? &has_room : nullptr},
          plan);
  room.count();
  first_.assign(plan.decisions().begin(), plan.decisions().end());
  first_wake_ = plan.wake();
  for (const Plan::Decision& decision : first_)
    if (decision.kind == Plan::Decision::Kind::start && index_of(decision.job) < blocks_.size())
      blocks_[index_of(decision.job)] = QueueBlock::none;
  for (const std::uint32_t i : admitted)
    if (admission_.at_start() && blocks_[i] != QueueBlock::none) note_limit(i);
}

void PoolReplay::note_limit(std::uint32_t which) {
  const auto full = admission_.no_room_for(which);
  if (!full) return;
  blocks_[which] = QueueBlock::shared_limit;
  limits_[which] = full;
}

std::int32_t PoolReplay::most_that_fit(const SnapshotJob& job) const {
  const OpenNodes open(cluster_);
  std::int32_t gpus = std::min(job.gpus - 1, open.free_gpus(job.nodes.get()));
  while (gpus > 0 && open.find(gpus, job.nodes.get()).empty()) --gpus;
  return gpus;
}

}  // namespace schedmate::eta
