// SPDX-License-Identifier: Apache-2.0
#include "sim/engine.hpp"

#include <algorithm>
#include <utility>

#include "core/countdown.hpp"

namespace schedmate {
namespace {

/// A policy that keeps waking without anything ending or arriving is stuck. The released srtf may
/// shuffle jobs every second for as long as a job runs; 2 M seconds are longer than any job of the
/// traces at hand.
constexpr std::uint64_t most_idle_calls = 2'000'000;

}  // namespace

Engine::Engine(EngineInput input, std::vector<JobOutcome>& outcomes)
    : input_(std::move(input)),
      outcomes_(outcomes),
      cluster_(input_.partition, input_.options.placer),
      plan_(cluster_, SimTime()),
      echo_(input_.echo),
      timeline_(input_.first_submit, input_.last_submit) {
  const std::size_t count = input_.jobs.size();
  infos_.reserve(count);
  runs_.reserve(count);
  rows_.reserve(count);
  phases_.reserve(count);
}

void Engine::run() {
  for (SimTime instant = next_instant(); instant != never; instant = next_instant()) {
    timeline_.advance(level_, instant);
    now_ = instant;
    finish_due();
    admit_due();
    if (!arrived_.empty() || !ended_.empty()) {
      next_call_ = std::min(next_call_, round_up(now_, input_.partition.round));
      idle_calls_ = 0;
    }
    if (next_call_ <= now_) call_policy();
    while (echo_.next() <= now_) {
      echo_.follow(cluster_);
      next_call_ = std::min(next_call_, round_up(now_ + Seconds(1), input_.partition.round));
    }
    level_.busy_gpus = cluster_.total_gpus() - cluster_.free_gpus();
    level_.stranded_gpus = cluster_.stranded_gpus();
    timeline_.queue_length(now_, static_cast<std::int32_t>(level_.queued_jobs));
    if (idle_calls_ > most_idle_calls) return;
  }
}

SimTime Engine::next_instant() {
  while (!ends_.empty() && ends_.top().version != at(ends_.top().job).version) ends_.pop();
  // With nothing left to do a policy may still ask to be woken: for ever, for all we know.
  const bool over = unfinished_ == 0 && next_job_ == input_.jobs.size();
  SimTime next = over && next_call_ > input_.open_until && next_call_ > now_ ? never : next_call_;
  if (!ends_.empty()) next = std::min(next, ends_.top().at);
  if (next_job_ < input_.jobs.size()) next = std::min(next, input_.jobs[next_job_].enters);
  // A node that comes or goes matters only while jobs are left.
  return over ? next : std::min(next, std::max(echo_.next(), now_));
}

void Engine::finish_due() {
  while (!ends_.empty() && ends_.top().at <= now_) {
    const End end = ends_.top();
    ends_.pop();
    if (end.version == at(end.job).version) finish(end.job);
  }
}

void Engine::admit_due() {
  while (next_prior_ < input_.prior.size() && input_.prior[next_prior_].enters <= now_) {
    history_.add(input_.trace.jobs[input_.prior[next_prior_++].row]);
  }
  while (next_job_ < input_.jobs.size() && input_.jobs[next_job_].enters <= now_) {
    enter(input_.jobs[next_job_++]);
  }
}

void Engine::enter(const EngineJob& entry) {
  const Job& job = input_.trace.jobs[entry.row];
  JobOutcome& result = outcomes_[entry.row];
  if (job.gpus > input_.partition.nodes * input_.partition.gpus_per_node) {
    result.status = JobStatus::infeasible;
    return;
  }
  JobInfo known;
  known.id = job.id;
  known.user = job.user;
  known.gpus = job.gpus;
  known.submit = job.submit;
  known.entered = now_;
  known.estimate = input_.options.estimator ? input_.options.estimator(job, entry.row, history_)
                                            : FractionalSeconds(job.duration);
  if (job.profile != no_index) known.profile = &input_.trace.packing->profiles[job.profile];
  const auto id = static_cast<JobId>(infos_.size());
  infos_.push_back(known);
  rows_.push_back(entry.row);
  phases_.push_back(JobPhase::queued);
  Run run;
  run.work = static_cast<double>(entry.work.count());
  run.waiting_since = now_;
  runs_.push_back(run);
  arrived_.push_back(id);
  ++unfinished_;
  queue_changed(1, job.gpus);
}

void Engine::call_policy() {
  next_call_ = never;
  ++calls_;
  ++idle_calls_;
  plan_.clear(now_);
  const View view{now_, arrived_, ended_, infos_, cluster_, input_.options.preemption};
  input_.policy(view, plan_);
  arrived_.clear();
  ended_.clear();
  for (const Plan::Decision& decision : plan_.decisions()) apply(decision);
  node_changes_.insert(node_changes_.end(), plan_.node_changes().begin(),
                       plan_.node_changes().end());
  if (plan_.wake() != never) {
    next_call_ = round_up(std::max(plan_.wake(), now_ + Seconds(1)), input_.partition.round);
  }
  if (input_.options.observer) observe();
}

void Engine::apply(const Plan::Decision& decision) {
  if (decision.kind == Plan::Decision::Kind::preempt) {
    stop(decision.job, decision.left);
  } else {
    start(decision.job, decision.shares);
  }
}

void Engine::start(JobId id, bool shares) {
  JobInfo& job = info(id);
  Run& run = at(id);
  JobOutcome& result = outcome(id);
  if (!result.started) result.start = now_;
  result.started = true;
  result.queue += now_ - run.waiting_since;
  phases_[index_of(id)] = JobPhase::running;
  job.running = true;
  job.run_since = now_;
  run.synced = now_;
  run.order = ++order_;
  queue_changed(-1, -job.gpus);
  level_.running_jobs += 1;
  if (shares) {
    result.packed_at = now_;
    update_sharing(id);
    for (const JobId other : running_on(cluster_.allocation(id), id)) update_sharing(other);
  } else {
    result.rate = 1;
    if (job.profile != nullptr) set_used(id, share_of(id).used_gpus);
  }
  plan_end(id);
}

void Engine::stop(JobId id, const Placement& left) {
  JobInfo& job = info(id);
  sync(id);
  const Seconds cost = input_.options.preemption.of(job.gpus);
  at(id).work += static_cast<double>(cost.count());
  at(id).waiting_since = now_;
  ++at(id).version;
  job.attained = job.run_time(now_);
  job.overhead += cost;
  job.running = false;
  ++outcome(id).preemptions;
  phases_[index_of(id)] = JobPhase::queued;
  queue_changed(1, job.gpus);
  level_.running_jobs -= 1;
  set_used(id, 0);
  if (std::exchange(job.sharing, false)) {
    for (const JobId other : running_on(left, id)) update_sharing(other);
  }
}

void Engine::sync(JobId id) {
  Run& run = at(id);
  run.work = after_steps(run.work, outcome(id).rate, (now_ - run.synced).count());
  run.synced = now_;
}

void Engine::plan_end(JobId id) {
  Run& run = at(id);
  const Seconds needed(steps_to_zero(run.work, outcome(id).rate));
  ends_.push({now_ + needed + input_.lag, run.order, id, ++run.version});
}

void Engine::finish(JobId id) {
  JobInfo& job = info(id);
  Run& run = at(id);
  JobOutcome& result = outcome(id);
  run.synced += input_.lag;
  sync(id);
  const auto others = job.sharing ? running_on(cluster_.allocation(id), id) : std::vector<JobId>();
  result.status = JobStatus::finished;
  result.end = now_;
  result.remaining = run.work;
  result.exclusive = !job.sharing;
  result.nodes = cluster_.release(id);
  for (Slice& slice : result.nodes) slice.node = cluster_.label(slice.node);
  job.attained = job.run_time(now_);
  job.running = false;
  ++run.version;
  phases_[index_of(id)] = JobPhase::ended;
  level_.running_jobs -= 1;
  set_used(id, 0);
  part(id, others);
  history_.add(input_.trace.jobs[rows_[index_of(id)]]);
  ended_.push_back(id);
  --unfinished_;
  if (input_.on_end) input_.on_end();
}

void Engine::queue_changed(int jobs, int gpus) {
  level_.queued_jobs += jobs;
  level_.queued_gpus += gpus;
}

void Engine::observe() {
  input_.options.observer({now_, input_.partition.name, cluster_, infos_, rows_, phases_});
}

}  // namespace schedmate
