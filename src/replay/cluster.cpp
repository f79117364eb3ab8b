// SPDX-License-Identifier: Apache-2.0
#include "replay/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/text.hpp"

namespace schedmate::replay {
ClusterSpec with_profiler(ClusterSpec cluster, const Scheduler& scheduler) {
  if (!scheduler.profiler) return cluster;
  for (const std::string& lender : scheduler.profiler->lenders)
    for (PartitionSpec& partition : cluster.partitions)
      if (partition.name == lender) --partition.nodes;
  cluster.partitions.push_back(scheduler.profiler->nodes);
  if (scheduler.profiler->grows) ++cluster.partitions.back().nodes;
  return cluster;
}

std::set<std::string, std::less<>> spares_of(const std::string& partition,
                                             const Scheduler& scheduler) {
  const auto& stage = scheduler.profiler;
  if (!stage || !stage->grows || stage->nodes.name != partition) return {};
  return {fmt::format("{}-{}", partition, stage->nodes.nodes)};
}

ReplayCluster::ReplayCluster(const Trace& trace, const ClusterSpec& cluster,
                             const SimOptions& options, const Scheduler* host)
    : trace_(growing(trace)), options_(options) {
  outcomes_.resize(trace.jobs.size());
  if (host != nullptr)
    host_ = *host;
  else
    options_.estimator = [](const EnteringJob&) { return Prediction(); };
  now_ = trace.jobs.empty() ? SimTime() : trace.jobs.front().submit;
  vcs_.reserve(cluster.partitions.size());  // engines refer to them
  for (const PartitionSpec& partition : cluster.partitions) {
    const std::size_t index = vcs_.size();
    Vc& vc = vcs_.emplace_back();
    vc.name = partition.name;
    vc.partition = partition;
    if (!host_) vc.partition.round = Seconds(1);  // what happens shows at once
    vc.reasons.resize(static_cast<std::size_t>(partition.nodes));
    std::vector<sim::EngineJob> jobs;
    for (std::uint32_t row = 0; row < trace.jobs.size(); ++row) {
      const Job& job = trace.jobs[row];
      if (trace.vcs[job.vc] != vc.name) continue;
      rows_[std::string(job.id)] = row;
      jobs.push_back({row, job.submit, job.duration});
    }
    vc.is_for_all = jobs.empty();
    if (vc.is_for_all) vc.guests.resize(trace.jobs.size());
    vc.engine = std::make_unique<sim::Engine>(input_of(index, std::move(jobs)),
                                              vc.is_for_all ? vc.guests : outcomes_);
  }
}

sim::EngineInput ReplayCluster::input_of(std::size_t vc, std::vector<sim::EngineJob> jobs) {
  const SimTime last = trace_.jobs.empty() ? SimTime() : trace_.jobs.back().submit;
  const auto decide = [this, vc, host = host_ ? host_->decide : Policy()](const View& view,
                                                                          Plan& plan) {
    follow(vc, view);
    if (!host) return;
    host(view, plan);
    follow_host(view, plan);
  };
  return {.trace = trace_,
          .partition = vcs_[vc].partition,
          .options = options_,
          .policy = decide,
          .estimator = options_.estimator,
          .handler = false,
          .jobs = std::move(jobs),
          .lag = Seconds(0),
          .echo = {},
          .first_submit = now_,
          .last_submit = last,
          .open_until = now_,
          .on_end = [this, vc](std::uint32_t row) { follow_end(vc, row); }};
}

SimTime ReplayCluster::next_instant() const {
  SimTime next = never;
  for (const Vc& vc : vcs_) next = std::min(next, vc.engine->next_instant());
  if (!tests_.empty()) next = std::min(next, tests_.begin()->second);
  return next;
}

void ReplayCluster::advance(SimTime to) {
  for (SimTime next = next_instant(); next <= to; next = next_instant()) {
    for (Vc& vc : vcs_)
      if (vc.engine->next_instant() <= next) vc.engine->step(next);
    now_ = next;
    end_tests();
  }
  now_ = std::max(now_, to);
}

void ReplayCluster::follow_end(std::size_t vc, std::uint32_t row) {
  if (vcs_[vc].is_for_all) outcomes_[row] = vcs_[vc].guests[row];
  end(row, outcomes_[row].end);
}

void ReplayCluster::end(std::uint32_t row, SimTime when) {
  Shown& job = jobs_.at(row);
  job.seen.phase = JobPhase::ended;
  job.seen.ended = when;
  job.seen.end_state = ran_on(bad_, job.seen) ? EndState::failed : trace_.jobs[row].state;
  job.version = ++version_;
  present_.erase(row);
  ended_.emplace(when, row);
}

void ReplayCluster::show(const Request& asked, Shown& job) {
  job.seen.name = asked.submission.name;
  job.seen.dir = asked.submission.dir;
  job.seen.command = asked.submission.command;
  job.seen.output = asked.submission.output;
  job.seen.limit = asked.submission.limit;
  job.seen.token = asked.token;
}

void ReplayCluster::follow(std::size_t vc, const View& view) {
  ++version_;
  for (const JobId id : view.arrived) {
    const JobInfo& info = view.job(id);
    const std::uint32_t row = rows_.at(std::string(info.id));
    const auto [found, fresh] = jobs_.try_emplace(row);
    Shown& job = found->second;
    job.id = id;
    job.version = version_;
    if (std::exchange(job.comes_back, false)) continue;
    if (fresh) job.home = vc;
    job.vc = vc;
    const std::int64_t restarts = fresh ? 0 : job.seen.restarts + (moves_ ? 0 : 1);
    job.seen = {};
    job.seen.id = info.id;
    job.seen.submitted = info.submit;
    job.seen.restarts = restarts;
    job.seen.user = trace_.users[trace_.jobs[row].user];
    job.seen.partition = vcs_[job.home].name;
    job.seen.gpus = info.gpus;
    if (const auto asked = submitted_.find(row); asked != submitted_.end())
      show(asked->second, job);
    present_.insert(row);
  }
}

/// What it has decided: who runs, and who is back in the queue.
void ReplayCluster::follow_host(const View& view, const Plan& plan) {
  for (const Plan::Decision& decision : plan.decisions()) {
    Shown& job = jobs_.at(rows_.at(std::string(view.job(decision.job).id)));
    SeenJob& seen = job.seen;
    job.version = version_;
    if (decision.kind == Plan::Decision::Kind::start) {
      seen.phase = JobPhase::running;
      seen.started = view.now;
      seen.nodes = names(view.cluster.allocation(decision.job), seen.partition);
    } else {
      seen.phase = JobPhase::queued;
      ++seen.restarts;
      seen.started.reset();
      seen.nodes.clear();
    }
  }
}

std::vector<NodeGpus> ReplayCluster::names(const Placement& where, const std::string& vc) const {
  std::vector<NodeGpus> named;
  for (const Slice& slice : where) {
    NodeGpus& node = named.emplace_back();
    node.node = fmt::format("{}-{}", vc, slice.node);
    for (std::uint64_t rest = slice.gpus; rest != 0; rest &= rest - 1)
      node.gpus.push_back(std::countr_zero(rest));
  }
  return named;
}

ReplayCluster::Vc* ReplayCluster::vc_of_node(const std::string& name, std::uint32_t& node) {
  const std::size_t dash = name.rfind('-');
  if (dash == std::string::npos) return nullptr;
  const auto number = parse_number<std::uint32_t>(std::string_view(name).substr(dash + 1));
  const auto vc = std::ranges::find(vcs_, name.substr(0, dash), &Vc::name);
  if (!number || vc == vcs_.end() || *number >= vc->reasons.size()) return nullptr;
  node = *number;
  return &*vc;
}

std::optional<Placement> ReplayCluster::placement(const Vc& vc,
                                                  const std::vector<NodeGpus>& where) const {
  Placement placed;
  for (const NodeGpus& each : where) {
    const auto number = parse_number<std::uint32_t>(
        std::string_view(each.node).substr(std::min(each.node.size(), vc.name.size() + 1)));
    if (!each.node.starts_with(vc.name + "-") || !number || *number >= vc.reasons.size() ||
        each.gpus.empty() || std::ranges::find(placed, *number, &Slice::node) != placed.end())
      return std::nullopt;
    Slice& slice = placed.emplace_back(Slice{*number, 0});
    for (const std::int32_t gpu : each.gpus) {
      if (gpu < 0 || gpu >= vc.partition.gpus_per_node) return std::nullopt;
      slice.gpus |= std::uint64_t{1} << gpu;
    }
  }
  return placed;
}

Result<Abilities> ReplayCluster::abilities(Deadline /*within*/) {
  Abilities made;
  const auto lack = [&](ActionKind kind, std::string_view why) {
    made.lacks[static_cast<std::size_t>(kind)] = why;
  };
  lack(ActionKind::requeue_excluding, "a replay starts no job again that has ended");
  lack(ActionKind::release_spare, "a replay has no spare nodes");
  if (!host_) return made;
  lack(ActionKind::start, "the cluster's own scheduler starts jobs");
  lack(ActionKind::evict, "the cluster's own scheduler starts jobs");
  constexpr std::string_view closed =
      "setting cluster.replay.policy: this replay has a scheduler of its own, so that nobody else "
      "submits or cancels jobs; leave it empty";
  lack(ActionKind::submit, closed);
  lack(ActionKind::cancel, closed);
  if (!host_->heeds_order)
    lack(ActionKind::set_order, "the policy of this replay has an order of its own alone");
  return made;
}

Listing ReplayCluster::changes(SimTime ended_since, std::int64_t version) const {
  Listing listing;
  listing.version = version_;
  listing.now = now_;
  listing.ended_since = ended_since;
  std::vector<const SeenJob*> changed;
  std::set<std::uint32_t> rows = present_;
  for (auto ended = ended_.lower_bound(ended_since); ended != ended_.end(); ++ended)
    rows.insert(ended->second);
  for (const std::uint32_t row : rows)
    if (const Shown& job = jobs_.at(row); job.version > version) changed.push_back(&job.seen);
  // Rows that were submitted besides stand behind those of the trace.
  std::ranges::stable_sort(changed, {}, &SeenJob::submitted);
  listing.jobs.reserve(changed.size());
  for (const SeenJob* job : changed) listing.jobs.push_back(*job);
  if (nodes_version_ <= version) return listing;
  for (const Vc& vc : vcs_)
    for (std::uint32_t node = 0; node < vc.reasons.size(); ++node)
      listing.nodes.push_back({fmt::format("{}-{}", vc.name, node), vc.name,
                               vc.partition.gpus_per_node, vc.engine->cluster().state(node),
                               vc.reasons[node]});
  return listing;
}

Result<Listing> ReplayCluster::list(SimTime ended_since, Deadline /*within*/) {
  return changes(ended_since, -1);
}

Result<std::optional<SeenJob>> ReplayCluster::job(const std::string& id, Deadline /*within*/) {
  const auto row = rows_.find(id);
  const auto found = row == rows_.end() ? jobs_.end() : jobs_.find(row->second);
  if (found == jobs_.end()) return std::nullopt;
  return found->second.seen;
}

Result<std::optional<std::string>> ReplayCluster::find_submission(const std::string& token,
                                                                  Deadline /*within*/) {
  const auto row = tokens_.find(token);
  if (row == tokens_.end()) return std::nullopt;
  return std::string(trace_.jobs[row->second].id);
}

CallReply ReplayCluster::call(const ActionCall& call, Deadline within) {
  const std::string lack = abilities(within)->lack(call.kind);
  if (!lack.empty()) return refused(lack);
  ++version_;
  if (call.kind == ActionKind::notify) return done;
  if (call.kind == ActionKind::drain_node || call.kind == ActionKind::undrain_node) {
    CallReply reply = change_node(call);
    advance(now_);
    return reply;
  }
  if (call.kind == ActionKind::submit) return submit(call);
  if (call.kind == ActionKind::test_nodes) return test(call);
  const auto row = rows_.find(call.job);
  const auto found = row == rows_.end() ? jobs_.end() : jobs_.find(row->second);
  if (found == jobs_.end()) return refused(fmt::format("no job {}", call.job));
  Shown& job = found->second;
  job.version = version_;
  if (job.seen.submitted != call.submitted)
    return refused(fmt::format("job {} is another one by now", call.job));
  if (tests_.contains(found->first)) return refused("a test of nodes ends by itself");
  if (call.kind == ActionKind::start || call.kind == ActionKind::evict) {
    CallReply reply = call.kind == ActionKind::start ? start(job, call) : evict(job, call);
    advance(now_);  // what needs no time has ended
    return reply;
  }
  if (call.kind == ActionKind::cancel) return cancel(job);
  CallReply reply = change_job(job, call);
  if (host_ && reply.outcome == CallOutcome::done) tell_host(job, call.kind);
  return reply;
}

/// A job that is held is not in its queue.
void ReplayCluster::tell_host(Shown& job, ActionKind kind) {
  sim::Engine& engine = *vcs_[job.vc].engine;
  const std::uint32_t row = rows_.at(job.seen.id);
  const auto waiting = engine.waiting(row);
  if (kind == ActionKind::set_order && waiting) engine.set_order(*waiting, job.seen.order, now_);
  if (kind == ActionKind::hold && waiting) engine.withdraw(*waiting, now_);
  if (kind == ActionKind::release) {
    job.comes_back = true;
    engine.admit(
        {.row = row, .enters = now_, .work = trace_.jobs[row].duration, .order = job.seen.order});
  }
  advance(now_);
}

/// It waits there from now on. Its work begins anew.
void ReplayCluster::move(Shown& job, std::size_t to, bool measured) {
  const std::uint32_t row = rows_.at(job.seen.id);
  vcs_[job.vc].engine->withdraw(job.id, now_);
  vcs_[job.vc].engine->step(now_);
  vcs_[to].engine->admit(
      {.row = row, .enters = now_, .work = trace_.jobs[row].duration, .measured = measured});
  vcs_[to].engine->step(now_);
}

bool ReplayCluster::runs(const std::string& id) const {
  const auto row = rows_.find(id);
  const auto found = row == rows_.end() ? jobs_.end() : jobs_.find(row->second);
  return found != jobs_.end() && found->second.seen.phase == JobPhase::running;
}

CallReply ReplayCluster::start(Shown& job, const ActionCall& call) {
  std::size_t to = job.vc;
  std::uint32_t number = 0;
  if (const Vc* const other =
          call.nodes.empty() ? nullptr : vc_of_node(call.nodes.front().node, number);
      other != nullptr && other->is_for_all)
    to = static_cast<std::size_t>(other - vcs_.data());
  Vc& vc = vcs_[to];
  if (job.seen.phase != JobPhase::queued || job.seen.restarts != call.restarts)
    return refused("it does not wait, or is another attempt");
  if (job.seen.held) return refused("it is held");
  const auto where = placement(vc, call.nodes);
  if (!where || where->empty()) return refused("no such GPUs");
  if (!call.shared_with.empty() && !rows_.contains(call.shared_with))
    return refused(fmt::format("no job {}", call.shared_with));
  const Cluster& cluster = vc.engine->cluster();
  int gpus = 0;
  for (const Slice& slice : *where) {
    gpus += std::popcount(slice.gpus);
    if (!cluster.usable(slice.node)) return refused("a node is not in service");
    const bool is_free = (cluster.free_mask(slice.node) & slice.gpus) == slice.gpus;
    if (!is_free && !runs(call.shared_with)) return refused("a GPU is held by another job");
    for (std::uint64_t rest = slice.gpus; rest != 0; rest &= rest - 1)
      if (std::ssize(cluster.residents(slice.node, std::countr_zero(rest))) >= Cluster::max_sharing)
        return refused("a GPU is full");
  }
  if (gpus != job.seen.gpus) return refused("not as many GPUs as it asks for");
  if (to != job.vc) {
    moves_ = true;
    move(job, to, false);
    moves_ = false;
  }
  vc.engine->decide(now_, [&](const View& view, Plan& plan) {
    plan.start_on(job.id, *where);
    (void)view;
  });
  job.seen.phase = JobPhase::running;
  job.seen.started = now_;
  job.seen.nodes = call.nodes;
  return done;
}

CallReply ReplayCluster::evict(Shown& job, const ActionCall& call) {
  if (job.seen.phase != JobPhase::running || job.seen.restarts != call.restarts)
    return refused("it does not run, or is another attempt");
  vcs_[job.vc].engine->decide(now_, [&](const View&, Plan& plan) { plan.evict(job.id); });
  if (job.vc != job.home) {
    move(job, job.home, true);
    return done;
  }
  job.seen.phase = JobPhase::queued;
  ++job.seen.restarts;
  job.seen.nodes.clear();
  job.seen.started.reset();
  return done;
}

/// It leaves its GPUs, or the queue, and has ended.
CallReply ReplayCluster::cancel(Shown& job) {
  if (job.seen.phase == JobPhase::ended) return refused("it has ended");
  sim::Engine& engine = *vcs_[job.vc].engine;
  if (job.seen.phase == JobPhase::running)
    engine.decide(now_, [&](const View&, Plan& plan) { plan.evict(job.id); });
  engine.withdraw(job.id, now_);
  engine.step(now_);
  const std::uint32_t row = rows_.at(job.seen.id);
  job.seen.phase = JobPhase::ended;
  job.seen.end_state = EndState::cancelled;
  job.seen.ended = now_;
  present_.erase(row);
  ended_.emplace(now_, row);
  return done;
}

CallReply ReplayCluster::change_job(Shown& job, const ActionCall& call) {
  SeenJob& seen = job.seen;
  const bool waits = seen.phase == JobPhase::queued;
  switch (call.kind) {
    case ActionKind::set_order:
      if (!waits) return refused("it does not wait");
      seen.order = call.order;
      return done;
    case ActionKind::hold:
      if (!waits || seen.held) return refused("it does not wait, or is held already");
      seen.held = true;
      seen.mark = call.text;
      return done;
    case ActionKind::release:
      if (!seen.held || !carries_mark(seen.mark, call.text))
        return refused("it is not held, or by somebody else");
      seen.held = false;
      seen.mark.clear();
      return done;
    case ActionKind::annotate:
      seen.note = call.text;
      return done;
    default:
      return refused("a replay does not do that");
  }
}

CallReply ReplayCluster::change_node(const ActionCall& call) {
  std::uint32_t node = 0;
  Vc* const vc = call.nodes.size() == 1 ? vc_of_node(call.nodes.front().node, node) : nullptr;
  if (vc == nullptr) return refused("no such node");
  nodes_version_ = version_;
  std::string& reason = vc->reasons[node];
  const bool is_up = vc->engine->cluster().state(node) == NodeState::up;
  if (call.kind == ActionKind::drain_node) {
    if (!is_up) return refused("it is not in service");
    vc->engine->set_state(node, NodeState::drained, now_);
    reason = call.text;
    return done;
  }
  if (is_up || !carries_mark(reason, call.text)) return refused("it is drained by somebody else");
  vc->engine->set_state(node, NodeState::up, now_);
  reason.clear();
  return done;
}

}  // namespace schedmate::replay
