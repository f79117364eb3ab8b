// SPDX-License-Identifier: Apache-2.0
/// A sample: the pool goes on from a copy (pool_replay.hpp).
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <tuple>
#include <utility>

#include "eta/pool_replay.hpp"

namespace schedmate::eta {
namespace {

/// Whole seconds, at least one: what ends now has ended.
Seconds whole(double seconds) {
  constexpr double longest_s = 1e12;
  return Seconds(static_cast<std::int64_t>(std::ceil(std::clamp(seconds, 1.0, longest_s))));
}

}  // namespace

/// A copy that goes on.
struct PoolReplay::Run {
  struct End {
    SimTime at;
    JobId job;
    std::uint32_t version;
    bool operator<(const End& other) const {
      return std::tie(at, job) > std::tie(other.at, other.job);
    }
  };
  struct State {
    Seconds left{0};
    std::uint32_t version = 0;  // counts starts and stops
  };

  const PoolReplay& from;
  std::span<const double> run_times_s;
  std::span<const NodeChange> returns;
  JobMap<JobInfo> infos;
  Cluster cluster;
  Policy policy;
  Admission admission;
  Plan plan;
  SimTime now, wake;
  SimTime latest_start;  // of those that start now
  JobMap<State> states;
  std::vector<End> ends;  // a heap
  struct Gpu {
    std::uint32_t held_by = 0;  // one more than the last job of the snapshot, or 0
    SimTime free_since = SimTime::min();
  };
  std::vector<Gpu> gpus;
  std::vector<Fate> fates;
  std::size_t open;        // jobs of the snapshot that have not started yet, but will
  std::size_t unfinished;  // those, and those that run
  std::uint32_t entered;
  JobMap<std::uint32_t> late;  // jobs of the snapshot that entered later: their index
  bool stops_jobs = false;     // the policy has preempted
  std::vector<std::pair<SimTime, std::uint32_t>> back;  // when jobs have nodes, in order
  std::size_t next_back = 0;
  std::size_t open_without_nodes = 0;  // of the open ones, those that need nodes which are out
  std::vector<JobId> arrived, ended;
  std::vector<std::uint32_t> changed;  // nodes
  std::size_t next_eligible = 0, next_change = 0, next_return = 0;

  Run(const PoolReplay& pool, const Future& future)
      : from(pool),
        run_times_s(future.run_times_s),
        returns(future.returns),
        infos(pool.infos_),
        cluster(pool.cluster_),
        policy(pool.policy_),
        admission(pool.admission_),
        plan(cluster, pool.now_),
        now(pool.now_),
        wake(pool.first_wake_),
        latest_start(now),
        gpus(static_cast<std::size_t>(cluster.node_end()) *
             static_cast<std::size_t>(cluster.gpus_per_node())),
        fates(pool.jobs_.size()),
        open(0),
        unfinished(0),
        entered(static_cast<std::uint32_t>(pool.jobs_.size())) {
    for (std::uint32_t i = 0; i < fates.size(); ++i) {
      const JobId id{i};
      const JobInfo& info = infos.at(id);
      if (!info.running && !pool.can_start_[i]) continue;
      ++unfinished;
      if (!info.running) {
        ++open;
        states[id].left = whole(run_times_s[i]);
        continue;
      }
      fates[i].start = info.run_since;
      fates[i].end = std::max(now + Seconds(1), info.run_since + whole(run_times_s[i]));
      states[id].left = fates[i].end - now;
      ends.push_back({fates[i].end, id, 0});
      for_each_gpu(cluster.allocation(id), [&](Gpu& gpu) { gpu.held_by = i + 1; });
    }
    std::make_heap(ends.begin(), ends.end());
    for (const std::uint32_t i : pool.lack_nodes_) wait_for_nodes(i);
    std::ranges::sort(back);
    for (const Plan::Decision& decision : pool.first_) carry_out(decision);
  }

  template <class Action>
  void for_each_gpu(const Placement& where, const Action& action) {
    for (const Slice& slice : where)
      for (std::uint64_t rest = slice.gpus; rest != 0; rest &= rest - 1)
        action(gpus[slice.node * static_cast<std::size_t>(cluster.gpus_per_node()) +
                    static_cast<std::size_t>(std::countr_zero(rest))]);
  }

  void wait_for_nodes(std::uint32_t i) {
    const SnapshotJob& job = from.jobs_[i];
    for (std::size_t count = 1; count <= returns.size(); ++count) {
      if (!from.has_nodes(job, returns.first(count))) continue;
      ++open_without_nodes;
      back.emplace_back(std::max(returns[count - 1].when, job.eligible.value_or(now)), i);
      return;
    }
    --open;  // nobody need wait for its start
    --unfinished;
  }

  void carry_out(const Plan::Decision& decision) {
    JobInfo& info = infos.at(decision.job);
    State& state = states.at(decision.job);
    ++state.version;
    if (decision.kind == Plan::Decision::Kind::start) return start(decision.job, info, state);
    stops_jobs = true;
    latest_start = now;  // nobody takes its GPUs before
    state.left -= now - info.run_since;
    info.attained += now - info.run_since;
    info.running = false;
    if (decision.kind == Plan::Decision::Kind::preempt) {
      const Seconds cost = View{now, {}, {}, infos, cluster, {}}.preemption.of(info.gpus);
      state.left += cost;
      info.overhead += cost;
      return;
    }
    state.left += info.attained;
    info.attained = Seconds(0);
    info.alone = true;
  }

  /// Of a job of the snapshot, else no_index.
  [[nodiscard]] std::uint32_t place_of(JobId id) const {
    if (index_of(id) < fates.size()) return index_of(id);
    const std::uint32_t* const place = late.find(id);
    return place == nullptr ? no_index : *place;
  }

  void start(JobId id, JobInfo& info, const State& state) {
    const Placement& where = cluster.allocation(id);
    latest_start = std::max(latest_start, info.entered);
    for_each_gpu(where,
                 [&](const Gpu& gpu) { latest_start = std::max(latest_start, gpu.free_since); });
    info.running = true;
    info.run_since = latest_start;
    const SimTime end = latest_start + std::max(Seconds(1), state.left);
    ends.push_back({end, id, state.version});
    std::push_heap(ends.begin(), ends.end());
    const std::uint32_t i = place_of(id);
    if (i != no_index) {
      if (fates[i].start == never) {
        fates[i].start = latest_start;
        note_freed_by(fates[i], where);
        --open;
        if (std::ranges::binary_search(from.lack_nodes_, i)) --open_without_nodes;
      }
      fates[i].end = end;
    }
    for_each_gpu(where, [&](Gpu& gpu) { gpu.held_by = i + 1; });
  }

  void note_freed_by(Fate& fate, const Placement& where) {
    for_each_gpu(where, [&](const Gpu& gpu) {
      if (gpu.held_by == 0 || fate.count_freed_by == Fate::most_freed_by) return;
      const auto known = std::span(fate.freed_by).first(fate.count_freed_by);
      if (std::ranges::find(known, gpu.held_by - 1) == known.end())
        fate.freed_by[fate.count_freed_by++] = gpu.held_by - 1;
    });
  }

  void end_due() {
    while (!ends.empty() && ends.front().at <= now) {
      const End end = ends.front();
      std::pop_heap(ends.begin(), ends.end());
      ends.pop_back();
      const State* state = states.find(end.job);
      if (state == nullptr || state->version != end.version) continue;
      for_each_gpu(cluster.allocation(end.job), [&](Gpu& gpu) { gpu.free_since = end.at; });
      cluster.release(end.job);
      infos.at(end.job).running = false;
      ended.push_back(end.job);
      if (const std::uint32_t i = place_of(end.job); i != no_index) {
        admission.ended(i);
        --unfinished;
      }
    }
  }

  /// Policies take it that ids rise in the order of entry.
  void enter_late(std::uint32_t i) {
    const JobId id{entered++};
    infos[id] = JobInfo(infos.at(JobId{i}));
    infos[id].entered = std::max(infos[id].entered, latest_start);
    states[id] = State(states.at(JobId{i}));
    infos.erase(JobId{i});
    states.erase(JobId{i});
    late[id] = i;
    arrived.push_back(id);
  }

  void enter(const Submission& job) {
    const JobId id{entered++};
    JobInfo& info = infos[id];
    info.user = job.user;
    info.gpus = job.gpus;
    info.submit = info.entered = job.submit;
    info.estimate = info.expected = job.planned;
    info.nodes = job.nodes;
    info.rank = job.rank;
    states[id].left = whole(job.ran_s);
    arrived.push_back(id);
  }

  /// When something of the snapshot's own happens next.
  [[nodiscard]] SimTime next_due() const {
    SimTime next = never;
    if (next_eligible < from.eligible_.size()) next = from.eligible_[next_eligible].first;
    if (next_change < from.changes_.size()) next = std::min(next, from.changes_[next_change].when);
    if (next_return < returns.size()) next = std::min(next, returns[next_return].when);
    if (next_back < back.size()) next = std::min(next, back[next_back].first);
    return next;
  }

  void take_due() {
    for (; next_eligible < from.eligible_.size() && from.eligible_[next_eligible].first <= now;
         ++next_eligible)
      admission.enter(from.eligible_[next_eligible].second);
    for (; next_back < back.size() && back[next_back].first <= now; ++next_back)
      admission.enter(back[next_back].second);
    std::vector<std::uint32_t> admitted;
    admission.admit(admitted);
    for (const std::uint32_t i : admitted) enter_late(i);
    take_changes(from.changes_, next_change);
    take_changes(returns, next_return);
  }

  void take_changes(std::span<const NodeChange> changes, std::size_t& taken) {
    const auto of_node = static_cast<std::size_t>(cluster.gpus_per_node());
    for (; taken < changes.size() && changes[taken].when <= now; ++taken) {
      const NodeChange& change = changes[taken];
      cluster.set_state(change.node, without_jobs_lost(change.state));
      changed.push_back(change.node);
      for (Gpu& gpu : std::span(gpus).subspan(change.node * of_node, of_node))
        gpu.free_since = std::max(gpu.free_since, change.when);
    }
  }

  /// Nobody else waits, and so it does not matter who comes until shortly before a node does.
  [[nodiscard]] SimTime nobody_counts_before() const {
    constexpr Seconds to_fill_up{86'400};
    if (open == 0 || open > open_without_nodes || next_return == returns.size()) return now;
    return returns[next_return].when - to_fill_up;
  }

  /// Whether its pool could ever start it.
  [[nodiscard]] bool has_room(const Submission& job) const {
    const int nodes = job.nodes == nullptr ? cluster.node_count() : job.nodes->size();
    return job.gpus <= nodes * cluster.gpus_per_node();
  }

  void call_policy() {
    plan.clear(now);
    RoomBesidePlan room(admission, plan, [this](JobId id) { return place_of(id); });
    const HasRoom has_room = std::ref(room);
    policy({.now = now,
            .arrived = arrived,
            .ended = ended,
            .jobs = infos,
            .cluster = cluster,
            .preemption = {},
            .nodes = changed,
            .has_room = admission.at_start() ? &has_room : nullptr},
           plan);
    room.count();
    for (const Plan::Decision& decision : plan.decisions()) carry_out(decision);
    wake = plan.wake() == never ? never : std::max(plan.wake(), now + Seconds(1));
    for (const JobId id : ended) {
      infos.erase(id);
      states.erase(id);
    }
    arrived.clear();
    ended.clear();
    changed.clear();
  }

  void go_on_to(SimTime next, double resolution) {
    const FractionalSeconds ahead = now - from.now_;
    const Seconds least(static_cast<std::int64_t>(resolution * ahead.count()));
    latest_start = next;
    now = std::max(next, now + least);
  }

  /// Whether all is known that is asked: where the policy stops jobs, they must have ended.
  [[nodiscard]] bool over() const { return open == 0 && (!stops_jobs || unfinished == 0); }
};

std::vector<Fate> PoolReplay::run(const Future& future,
                                  const NextSubmission& next_submission) const {
  Run run(*this, future);
  auto coming = next_submission();
  while (!run.over()) {
    while (coming && coming->submit < run.nobody_counts_before()) coming = next_submission();
    SimTime next = std::min(run.wake, run.next_due());
    if (!run.ends.empty()) next = std::min(next, run.ends.front().at);
    if (coming) next = std::min(next, coming->submit);
    if (next == never || next > future.until) break;
    run.go_on_to(next, future.resolution);
    run.end_due();
    run.take_due();
    for (; coming && coming->submit <= run.now; coming = next_submission()) {
      if (run.has_room(*coming)) run.enter(*coming);
    }
    run.call_policy();
  }
  return std::move(run.fates);
}

}  // namespace schedmate::eta
