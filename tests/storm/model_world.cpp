// SPDX-License-Identifier: Apache-2.0

/// The cluster by itself: jobs that come, run and go, and people.

#include <algorithm>
#include <utility>

#include "tests/storm/model_cluster.hpp"

namespace schedmate::storm {

std::string ModelCluster::submit(const NewJob& job) {
  forget();
  Job& made = jobs_.emplace_back();
  made.runs = job.runs;
  made.will_end = job.will_end;
  std::string id = fmt::format("{}", next_id_);
  if (job.reuses_id && !gone_.empty()) {
    id = gone_.front();
    gone_.erase(gone_.begin());
  } else {
    ++next_id_;
  }
  made.seen.id = id;
  made.seen.submitted = timeline_.clock();
  made.seen.user = job.user;
  made.tests = job.tests;
  if (job.tests.empty()) {
    made.seen.dir = "/x";
    made.seen.command = "./train";
    made.seen.output = "/x/log";
  }
  made.seen.partition = job.partition;
  made.seen.gpus = job.gpus;
  made.seen.limit = job.runs * 2;
  made.seen.token = job.token;
  open_life(made);
  ++version_;
  book_.note(timeline_.now(), "cluster  job {} enters ({}, {} GPUs, {} s)", id, job.partition,
             job.gpus, job.runs.count());
  return id;
}

void ModelCluster::open_life(Job& job) {
  job.life = book_.lives.size();
  book_.lives.push_back({.id = job.seen.id,
                         .submitted = job.seen.submitted,
                         .restarts = job.seen.restarts,
                         .is_test = !job.tests.empty()});
}

void ModelCluster::begin(Job& job, const std::vector<NodeGpus>& where) {
  SeenJob& seen = job.seen;
  seen.phase = JobPhase::running;
  seen.started = timeline_.clock();
  seen.nodes = where;
  for (const NodeGpus& each : where)
    for (const std::int32_t gpu : each.gpus)
      find_node(each.node)->holders[static_cast<std::size_t>(gpu)].push_back(seen.id);
  book_.lives[job.life].started = seen.started;
  job.run = ++runs_;
  if (!job.tests.empty() && test_begins) {
    const Fate fate = test_begins();
    job.runs = fate.runs;
    job.hangs = fate.hangs;
  }
  ++version_;
  book_.note(timeline_.now(), "cluster  job {} runs on {}", seen.id, where.front().node);
  timeline_.in(millis_of(job.runs), [this, id = seen.id, run = job.run] {
    Job* const running = find(id);
    if (running == nullptr || running->run != run || running->seen.phase != JobPhase::running)
      return;
    end(*running, outcome_of(*running));
  });
}

bool ModelCluster::was_bad(const Node& node, Millis from, Millis to) {
  return std::ranges::any_of(
      node.bad, [&](const auto& span) { return span.first <= to && from <= span.second; });
}

/// As it should end, when its time has come: a bad node fails its test, and every other job.
EndState ModelCluster::outcome_of(const Job& job) {
  if (job.hangs) return EndState::cancelled;
  const Millis now = timeline_.now(), from = now - millis_of(job.runs);
  const bool bad = std::ranges::any_of(job.seen.nodes, [&](const NodeGpus& each) {
    return was_bad(*find_node(each.node), from, now);
  });
  if (job.tests.empty()) return bad ? EndState::failed : job.will_end;
  const bool lies = test_lies && test_lies(job.tests, bad);
  return bad != lies ? EndState::failed : EndState::completed;
}

void ModelCluster::note_test(const Job& job, EndState state) {
  const bool lost = state == EndState::node_fail;
  if (!lost && state != EndState::failed && state != EndState::completed) return;
  const Millis now = timeline_.now();
  const bool bad = std::ranges::any_of(job.tests, [&](const std::string& name) {
    return was_bad(*find_node(name), now - millis_of(job.runs), now);
  });
  book_.tests.push_back({now, job.tests, state != EndState::completed, bad || lost});
}

void ModelCluster::leave_gpus(Job& job) {
  for (Node& node : nodes_)
    for (auto& holders : node.holders) std::erase(holders, job.seen.id);
}

void ModelCluster::end(Job& job, EndState state) {
  SeenJob& seen = job.seen;
  if (!job.tests.empty() && seen.phase == JobPhase::running) note_test(job, state);
  leave_gpus(job);
  seen.phase = JobPhase::ended;
  seen.end_state = state;
  seen.ended = timeline_.clock();
  seen.held = false;
  seen.mark.clear();
  book_.lives[job.life].ended = seen.ended;
  book_.lives[job.life].end_state = state;
  ++version_;
  book_.note(timeline_.now(), "cluster  job {} ends: {}", seen.id, to_string(state));
}

void ModelCluster::requeue(Job& job) {
  SeenJob& seen = job.seen;
  if (seen.phase != JobPhase::ended) end(job, EndState::requeued);
  seen.phase = JobPhase::queued;
  seen.end_state = EndState::unknown;
  ++seen.restarts;
  seen.started.reset();
  seen.ended.reset();
  seen.nodes.clear();
  job.will_end = EndState::completed;
  open_life(job);
  ++version_;
  book_.note(timeline_.now(), "cluster  job {} is back in the queue", seen.id);
}

void ModelCluster::forget() {
  const SimTime since = timeline_.clock() - setup_.remembers;
  const auto old = [&](const Job& job) {
    return job.seen.phase == JobPhase::ended && job.seen.ended.value_or(never) < since;
  };
  for (const Job& job : jobs_)
    if (old(job)) gone_.push_back(job.seen.id);
  if (std::erase_if(jobs_, old) > 0) ++version_;
}

void ModelCluster::set_dead(Node& node, bool dead) {
  if (node.dead == dead) return;
  node.dead = dead;
  ++version_;
  book_.note(timeline_.now(), "cluster  node {} {}", node.name, dead ? "dies" : "comes back");
  if (!dead) {
    node.deaths.back().second = timeline_.now();
    return;
  }
  node.deaths.emplace_back(timeline_.now(), INT64_MAX);
  for (Job& job : jobs_) {
    const auto on_it = [&](const NodeGpus& each) { return each.node == node.name; };
    if (job.seen.phase != JobPhase::running || std::ranges::none_of(job.seen.nodes, on_it))
      continue;
    end(job, EndState::node_fail);
    if (job.run % 2 == 0) requeue(job);
  }
}

void ModelCluster::restart_controller(Millis away) {
  away_until_ = std::max(away_until_, timeline_.now() + away);
  book_.note(timeline_.now(), "cluster  the controller is away for {} s", away / 1000);
}

/// Free GPUs, or with `empty` as if all were.
std::optional<std::vector<NodeGpus>> ModelCluster::place(const Job& job, bool empty) const {
  std::vector<NodeGpus> where;
  std::int32_t left = job.seen.gpus;
  const bool is_test = !job.tests.empty();
  for (const Node& node : nodes_) {
    if (is_out(node) || node.partition != job.seen.partition || left == 0) continue;
    if (is_test ? std::ranges::find(job.tests, node.name) == job.tests.end()
                : node.awaited && !empty)
      continue;
    if (std::ranges::find(job.not_on, node.name) != job.not_on.end()) continue;
    NodeGpus& part = where.emplace_back(NodeGpus{node.name, {}});
    for (std::size_t gpu = 0; gpu < node.holders.size() && left > 0; ++gpu) {
      if (!empty && !node.holders[gpu].empty()) continue;
      part.gpus.push_back(static_cast<std::int32_t>(gpu));
      --left;
    }
    if (part.gpus.empty()) where.pop_back();
  }
  if (left > 0) return std::nullopt;
  return where;
}

bool ModelCluster::could_run(const Job& job) const { return place(job, true).has_value(); }

bool ModelCluster::ended_within(Seconds time) const {
  return std::ranges::any_of(jobs_, [&](const Job& job) {
    return job.seen.ended && timeline_.clock() - *job.seen.ended < time;
  });
}

Seconds ModelCluster::work(Seconds pause) const {
  std::map<std::string, Seconds> work;
  Seconds most{0};
  for (const Job& job : jobs_)
    if (job.seen.phase != JobPhase::ended)
      most = std::max(most, work[job.seen.partition] += job.runs + pause);
  return most;
}

void ModelCluster::schedule() {
  if (timeline_.now() < away_until_) return;
  std::vector<Job*> waiting;
  for (Node& node : nodes_) node.awaited = false;
  for (Job& job : jobs_) {
    const bool starts = setup_.starts_jobs || !job.tests.empty();
    if (job.seen.phase != JobPhase::queued || job.seen.held || !starts) continue;
    waiting.push_back(&job);
    if (job.tests.empty() || !could_run(job)) continue;
    for (const std::string& name : job.tests) find_node(name)->awaited = true;
  }
  std::ranges::stable_sort(waiting, std::greater(), [](const Job* job) {
    return std::pair(!job->tests.empty(), job->seen.order);
  });
  for (Job* const job : waiting)
    if (const auto where = place(*job, false)) begin(*job, *where);
}

// People -----------------------------------------------------------------------------------------

void ModelCluster::deed(std::string what, const std::string& subject, std::string before) {
  ++version_;
  book_.note(timeline_.now(), "human    {} {}{}", what, subject,
             before.empty() ? "" : fmt::format(" (was \"{}\")", before));
  book_.deeds.push_back({timeline_.now(), std::move(what), subject, std::move(before)});
}

void ModelCluster::human_drains(const std::string& name, const std::string& reason) {
  Node* const node = find_node(name);
  if (node == nullptr || node->drain == reason) return;
  deed("drain", name, std::exchange(node->drain, reason));
}

void ModelCluster::human_undrains(const std::string& name) {
  Node* const node = find_node(name);
  if (node == nullptr || node->drain.empty()) return;
  deed("undrain", name, std::exchange(node->drain, ""));
}

void ModelCluster::human_requeues(const std::string& id) {
  Job* const job = find(id);
  if (job == nullptr || job->seen.phase == JobPhase::queued) return;
  deed("requeue", id);
  requeue(*job);
}

void ModelCluster::human_cancels(const std::string& id) {
  Job* const job = find(id);
  if (job == nullptr || job->seen.phase == JobPhase::ended) return;
  deed("cancel", id);
  end(*job, EndState::cancelled);
}

void ModelCluster::human_holds(const std::string& id, const std::string& mark) {
  Job* const job = find(id);
  if (job == nullptr || job->seen.phase != JobPhase::queued || job->seen.mark == mark) return;
  job->seen.held = true;
  deed("hold", id, std::exchange(job->seen.mark, mark));
}

void ModelCluster::human_releases(const std::string& id) {
  Job* const job = find(id);
  if (job == nullptr || !job->seen.held) return;
  job->seen.held = false;
  deed("release", id, std::exchange(job->seen.mark, ""));
}

void ModelCluster::human_starts(const std::string& id) {
  Job* const job = find(id);
  if (job == nullptr || job->seen.phase != JobPhase::queued || job->seen.held) return;
  const auto where = place(*job, false);
  if (!where) return;
  deed("start", id);
  begin(*job, *where);
}

void ModelCluster::human_orders(const std::string& id, std::int64_t order) {
  Job* const job = find(id);
  if (job == nullptr || job->seen.phase != JobPhase::queued) return;
  deed("order", id, fmt::format("{}", std::exchange(job->seen.order, order)));
}

void ModelCluster::human_notes(const std::string& id, const std::string& note) {
  Job* const job = find(id);
  if (job == nullptr) return;
  deed("note", id, std::exchange(job->seen.note, note));
}

}  // namespace schedmate::storm
