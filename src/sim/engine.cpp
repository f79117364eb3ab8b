// SPDX-License-Identifier: Apache-2.0
#include "sim/engine.hpp"

#include <algorithm>
#include <utility>

#include "base/random.hpp"
#include "core/countdown.hpp"
#include "core/entering_job.hpp"

namespace schedmate::sim {
namespace {

/// A policy that keeps waking without anything ending or arriving is stuck. The released srtf may
/// shuffle jobs every second for as long as a job runs; 2 M seconds are longer than any job of the
/// traces at hand.
constexpr std::uint64_t most_idle_calls = 2'000'000;

double gpu_seconds(const JobInfo& job, Seconds time) {
  return static_cast<double>(job.gpus) * static_cast<double>(time.count());
}

/// Whether row `row` belongs to a share of all rows that the seed draws.
bool is_drawn(std::uint64_t seed, std::uint32_t row, double share) {
  return share >= 1 || Random(mix(seed) ^ mix(row)).uniform() < share;
}

}  // namespace

Engine::Engine(EngineInput input, std::vector<JobOutcome>& outcomes)
    : input_(std::move(input)),
      outcomes_(outcomes),
      cluster_(input_.partition, input_.options.placer),
      plan_(cluster_, SimTime()),
      echo_(input_.echo),
      timeline_(input_.first_submit, input_.last_submit) {}

void Engine::run() {
  for (SimTime instant = next_instant(); instant != never; instant = next_instant()) {
    step(instant);
    if (idle_calls_ > most_idle_calls) return;
  }
}

void Engine::step(SimTime instant) {
  timeline_.advance(level_, instant);
  now_ = instant;
  learn_due(now_ - Seconds(1));
  finish_due();
  admit_arrivals();
  if (!arrived_.empty() || !ended_.empty() || !withdrawn_.empty()) {
    call_at(now_);
    idle_calls_ = 0;
  }
  if (next_call_ <= now_) call_policy();
  while (echo_.next() <= now_) {
    echo_.follow(cluster_);
    call_at(now_ + Seconds(1));
  }
  measure_level();
  timeline_.queue_length(now_, static_cast<std::int32_t>(level_.queued_jobs));
}

void Engine::settle(SimTime now) {
  timeline_.advance(level_, now);
  now_ = now;
  learn_due(now_ - Seconds(1));  // in the order of step(): the last ends count
  finish_due();
  if (!ended_.empty()) call_at(now_);
  measure_level();
}

void Engine::measure_level() {
  level_.busy_gpus = cluster_.total_gpus() - cluster_.free_gpus();
  level_.stranded_gpus = cluster_.stranded_gpus();
}

SimTime Engine::next_instant() {
  if (idle_calls_ > most_idle_calls) return never;
  while (!ends_.empty() && is_off(ends_.top())) ends_.pop();
  // With nothing left to do a policy may still ask to be woken: forever, for all we know.
  const EngineJob* entry = next_entry();
  const bool over = unfinished_ == 0 && entry == nullptr && !open_;
  SimTime next = over && next_call_ > input_.open_until && next_call_ > now_ ? never : next_call_;
  if (!ends_.empty()) next = std::min(next, ends_.top().at);
  if (entry != nullptr) next = std::min(next, entry->enters);
  // A node that comes or goes matters only while jobs are left.
  return over ? next : std::min(next, std::max(echo_.next(), now_));
}

const EngineJob* Engine::next_entry() const {
  const EngineJob* listed = next_job_ < input_.jobs.size() ? &input_.jobs[next_job_] : nullptr;
  const EngineJob* admitted = coming_.empty() ? nullptr : &coming_.top();
  if (listed == nullptr || admitted == nullptr) return listed == nullptr ? admitted : listed;
  return *admitted < *listed ? admitted : listed;
}

void Engine::finish_due() {
  while (!ends_.empty() && ends_.top().at <= now_) {
    const End end = ends_.top();
    ends_.pop();
    if (!is_off(end)) end_run(end.job);
  }
}

void Engine::learn_due(SimTime until) {
  for (; !ended_elsewhere_.empty() && ended_elsewhere_.top().enters <= until;
       ended_elsewhere_.pop()) {
    const EngineJob& ended = ended_elsewhere_.top();
    if (input_.estimator)
      input_.estimator.learn(finished_job(input_.trace, ended.row, ended.enters));
  }
}

void Engine::admit_arrivals() {
  learn_due(now_);
  for (const EngineJob* entry = next_entry(); entry != nullptr && entry->enters <= now_;
       entry = next_entry()) {
    const EngineJob entering = *entry;
    if (!coming_.empty() && entry == &coming_.top()) {
      coming_.pop();
    } else {
      ++next_job_;
    }
    enter(entering);
  }
}

Prediction Engine::predict(std::uint32_t row, SimTime now) {
  const Job& job = input_.trace.jobs[row];
  if (!input_.estimator) return {FractionalSeconds(job.duration)};
  learn_due(now);
  const bool advice_is_due = now >= job.submit + input_.options.costs.advice;
  return input_.estimator({known_job(input_.trace, row), now, advice_is_due});
}

std::optional<JobId> Engine::waiting(std::uint32_t row) const {
  for (std::uint32_t i = index_of(standing_.end()); i-- > index_of(standing_.begin());) {
    const JobStanding* latest = standing_.find(JobId{i});
    if (latest == nullptr || latest->row != row) continue;
    return latest->phase == JobPhase::queued ? std::optional(JobId{i}) : std::nullopt;
  }
  return std::nullopt;
}

void Engine::withdraw(JobId id, SimTime now) {
  timeline_.advance(level_, now);
  now_ = now;
  outcome(id).queue += now - at(id).waiting_since;
  standing_.at(id).phase = JobPhase::ended;
  queue_changed(-1, -info(id).gpus);
  std::erase(reordered_, id);
  --unfinished_;
  if (std::erase(arrived_, id) > 0) return forget(id);  // nobody was told of it
  withdrawn_.push_back(id);
  call_at(now);
}

void Engine::set_order(JobId id, std::int64_t order, SimTime now) {
  if (std::exchange(info(id).order, order) == order) return;
  if (std::ranges::find(reordered_, id) == reordered_.end()) reordered_.push_back(id);
  call_at(now);
}

void Engine::set_state(std::uint32_t node, NodeState state, SimTime now) {
  cluster_.set_state(node, state);
  changed_nodes_.push_back(node);
  call_at(now);
}

JobInfo Engine::describe(JobId id, const EngineJob& entry) {
  const Job& job = input_.trace.jobs[entry.row];
  const Prediction prediction = predict(entry.row, now_);
  JobInfo known = entering_job(known_job(input_.trace, entry.row), prediction, now_);
  known.profiled = entry.measured;
  known.alone = entry.alone;
  known.order = entry.order;
  known.attained = Seconds(static_cast<std::int64_t>(entry.done_s));
  const Costs& costs = input_.options.costs;
  if (job.profile != no_index && entry.measured && !costs.seen_profiles.empty())
    known.profile = &costs.seen_profiles[job.profile];
  if (prediction.use && !entry.measured)
    known.profile =
        &(predicted_profiles_[id] = profile_of(*prediction.use, input_.trace.packing->sharing));
  if (is_drawn(input_.options.seed, entry.row, costs.tracked_share)) known.speed = 1;
  return known;
}

void Engine::enter(const EngineJob& entry) {
  const Job& job = input_.trace.jobs[entry.row];
  if (job.gpus > input_.partition.nodes * input_.partition.gpus_per_node) {
    outcomes_[entry.row].status = JobStatus::infeasible;
    return;
  }
  const JobId id{entered_++};
  infos_[id] = describe(id, entry);
  standing_[id] = {entry.row, JobPhase::queued};
  Run& run = runs_[id];
  run.work = run.whole = static_cast<double>(entry.work.count());
  run.waiting_since = now_;
  plan_failure(entry, run);
  arrived_.push_back(id);
  ++unfinished_;
  queue_changed(1, job.gpus);
}

void Engine::call_policy() {
  next_call_ = never;
  ++calls_;
  ++idle_calls_;
  plan_.clear(now_);
  const View view{.now = now_,
                  .arrived = arrived_,
                  .ended = ended_,
                  .jobs = infos_,
                  .cluster = cluster_,
                  .preemption = input_.options.preemption,
                  .nodes = changed_nodes_,
                  .withdrawn = withdrawn_,
                  .reordered = reordered_};
  input_.policy(view, plan_);
  arrived_.clear();
  reordered_.clear();
  changed_nodes_.clear();
  carry_out();
  if (plan_.wake() != never) {
    next_call_ = round_up(std::max(plan_.wake(), now_ + Seconds(1)), input_.partition.round);
  }
  if (input_.options.observer) observe();
  forget_ended();
}

void Engine::carry_out() {
  for (const Plan::Decision& decision : plan_.decisions()) apply(decision);
  node_changes_.insert(node_changes_.end(), plan_.node_changes().begin(),
                       plan_.node_changes().end());
}

void Engine::decide(SimTime now, const Policy& hand) {
  timeline_.advance(level_, now);
  now_ = now;
  plan_.clear(now_);
  hand({.now = now_,
        .arrived = {},
        .ended = {},
        .jobs = infos_,
        .cluster = cluster_,
        .preemption = input_.options.preemption},
       plan_);
  carry_out();
}

void Engine::forget_ended() {
  for (std::vector<JobId>* gone : {&ended_, &withdrawn_}) {
    for (const JobId id : *gone) forget(id);
    gone->clear();
  }
}

void Engine::forget(JobId id) {
  infos_.erase(id);
  runs_.erase(id);
  standing_.erase(id);
  predicted_profiles_.erase(id);
}

void Engine::apply(const Plan::Decision& decision) {
  using enum Plan::Decision::Kind;
  if (decision.kind == start) return start_run(decision.job, decision.shares);
  stop(decision.job, decision.left);
  if (decision.kind == preempt) charge_preemption(decision.job);
  if (decision.kind == evict) lose_progress(decision.job);
}

void Engine::start_run(JobId id, bool shares) {
  JobInfo& job = info(id);
  Run& run = at(id);
  JobOutcome& result = outcome(id);
  if (!result.started) result.start = now_;
  result.started = true;
  result.queue += now_ - run.waiting_since;
  standing_.at(id).phase = JobPhase::running;
  job.running = true;
  job.run_since = now_;
  run.synced = now_;
  run.order = ++order_;
  queue_changed(-1, -job.gpus);
  level_.running_jobs += 1;
  if (shares) {
    plan_memory_crash(id);
    result.packed_at = now_;
    update_sharing(id);
    for (const JobId other : running_on(cluster_.allocation(id), id)) update_sharing(other);
  } else {
    set_rate(id, 1);
    if (true_profile(id) != nullptr) set_used(id, share_of(id).used_gpus);
  }
  plan_end(id);
}

void Engine::stop(JobId id, const Placement& left) {
  JobInfo& job = info(id);
  sync(id);
  at(id).waiting_since = now_;
  ++at(id).version;
  outcome(id).held_gpu_s += gpu_seconds(job, now_ - job.run_since);
  job.attained = job.run_time(now_);
  job.running = false;
  standing_.at(id).phase = JobPhase::queued;
  queue_changed(1, job.gpus);
  level_.running_jobs -= 1;
  set_used(id, 0);
  if (std::exchange(job.sharing, false)) {
    for (const JobId other : running_on(left, id)) update_sharing(other);
  }
}

void Engine::charge_preemption(JobId id) {
  JobInfo& job = info(id);
  const Seconds cost = input_.options.preemption.of(job.gpus);
  at(id).work += static_cast<double>(cost.count());
  at(id).whole += static_cast<double>(cost.count());
  job.overhead += cost;
  outcome(id).overhead_gpu_s += gpu_seconds(job, cost);
  ++outcome(id).preemptions;
}

void Engine::lose_progress(JobId id) {
  JobInfo& job = info(id);
  Run& run = at(id);
  outcome(id).lost_gpu_s += (run.whole - run.work) * job.gpus;
  if (run.cut == Cut::memory) {  // it has left before it died
    run.cut = Cut::none;
    run.work = run.whole = static_cast<double>(run.entry.work.count());
    plan_failure(run.entry, run);
  }
  run.work = run.whole;
  run.entry.alone = job.alone = true;
  job.attained = Seconds(static_cast<std::int64_t>(run.entry.done_s));
  ++outcome(id).evictions;
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

void Engine::end_run(JobId id) {
  at(id).synced += input_.lag;
  sync(id);
  if (at(id).entry.kind == EngineJob::Kind::futile) {
    leave(id);
    count_futile(id);
  } else if (at(id).cut != Cut::none) {
    leave(id);
    interrupt(id);
  } else {
    finish(id);
  }
}

/// Off its GPUs for good, as far as the policy knows.
void Engine::leave(JobId id) {
  JobInfo& job = info(id);
  JobOutcome& result = outcome(id);
  const auto others = job.sharing ? running_on(cluster_.allocation(id), id) : std::vector<JobId>();
  result.nodes = cluster_.release(id);
  for (Slice& slice : result.nodes) slice.node = cluster_.label(slice.node);
  result.held_gpu_s += gpu_seconds(job, now_ - job.run_since);
  job.attained = job.run_time(now_);
  job.running = false;
  ++at(id).version;
  standing_.at(id).phase = JobPhase::ended;
  level_.running_jobs -= 1;
  set_used(id, 0);
  part(id, others);
  ended_.push_back(id);
  --unfinished_;
}

void Engine::finish(JobId id) {
  JobOutcome& result = outcome(id);
  result.status = JobStatus::finished;
  result.end = now_;
  result.remaining = at(id).work;
  result.exclusive = !info(id).sharing;
  leave(id);
  const std::uint32_t row = row_of(id);
  if (input_.estimator) input_.estimator.learn(finished_job(input_.trace, row, now_));
  restart_futile(id);
  if (input_.on_end) input_.on_end(row);
}

void Engine::queue_changed(int jobs, int gpus) {
  level_.queued_jobs += jobs;
  level_.queued_gpus += gpus;
}

void Engine::observe() {
  input_.options.observer({now_, input_.partition.name, cluster_, infos_, standing_});
}

}  // namespace schedmate::sim
