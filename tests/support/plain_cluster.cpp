// SPDX-License-Identifier: Apache-2.0
#include "tests/support/plain_cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

namespace schedmate::testing {

bool PlainCluster::step() {
  SimTime next = wake_;
  if (!ends_.empty()) next = std::min(next, ends_.top().at);
  if (!coming_.empty()) next = std::min(next, coming_.top().at);
  if (!changes_.empty()) next = std::min(next, changes_.begin()->first);
  if (!withdrawals_.empty()) next = std::min(next, withdrawals_.begin()->first);
  const bool over = coming_.empty() && here_ == 0;
  if (next == never || over) return false;
  now_ = next;
  end_due();
  change_due();
  withdraw_due();
  enter_due();
  call();
  return true;
}

void PlainCluster::hand_over(Policy decide) {
  brain_.decide = std::move(decide);
  jobs_.for_each([&](JobId id, const JobInfo& job) {
    if (job.running)
      adopted_.push_back(id);
    else
      arrived_.push_back(id);
  });
  std::ranges::stable_sort(adopted_, {}, [&](JobId id) { return jobs_.at(id).run_since; });
  wake_ = now_;
}

void PlainCluster::end_due() {
  for (; !ends_.empty() && ends_.top().at <= now_; ends_.pop()) {
    const auto& [at, id, version] = ends_.top();
    const Run* run = runs_.find(id);
    if (run == nullptr || run->version != version || !jobs_.at(id).running) continue;
    const FinishedJob done{run->what.job, now_, run->what.run_time, EndState::completed};
    leave(id);
    brain_.estimator.learn(done);
    ++finished_;
  }
}

void PlainCluster::leave(JobId id) {
  cluster_.release(id);
  jobs_.at(id).running = false;
  ended_.push_back(id);
}

/// To the policy it has ended; it comes back a minute later and restarts.
void PlainCluster::lose(JobId id) {
  Submission again = runs_.at(id).what;
  coming_.push({now_ + Seconds(60), ++pushed_, again});
  ++lost_runs_;
  leave(id);
}

void PlainCluster::change_due() {
  for (; !changes_.empty() && changes_.begin()->first <= now_; changes_.erase(changes_.begin())) {
    const auto [node, state] = changes_.begin()->second;
    if (state == NodeState::down)
      for (const JobId id : cluster_.jobs_on(node)) lose(id);
    cluster_.set_state(node, state);
    nodes_.push_back(node);
  }
}

/// A job that runs by then, or has left, is left alone.
void PlainCluster::withdraw_due() {
  for (; !withdrawals_.empty() && withdrawals_.begin()->first <= now_;
       withdrawals_.erase(withdrawals_.begin())) {
    std::optional<JobId> waiting;
    runs_.for_each([&](JobId id, const Run& run) {
      const bool here = run.what.job.number == withdrawals_.begin()->second;
      if (here && !jobs_.at(id).running && std::ranges::find(ended_, id) == ended_.end())
        waiting = id;
    });
    if (!waiting || std::ranges::find(withdrawn_, *waiting) != withdrawn_.end()) continue;
    withdrawn_.push_back(*waiting);
    ++taken_back_;
  }
}

void PlainCluster::enter_due() {
  for (; !coming_.empty() && coming_.top().at <= now_; coming_.pop()) enter(coming_.top().what);
}

void PlainCluster::enter(const Submission& what) {
  const JobId id{entered_++};
  const Prediction prediction = brain_.estimator({what.job, now_});
  JobInfo& job = jobs_[id];
  job.id = what.job.id;
  job.user = what.job.user;
  job.gpus = what.job.gpus;
  job.submit = what.job.submit;
  job.entered = now_;
  job.estimate = job.expected = prediction.run_time;
  job.distribution = prediction.distribution;
  job.advised = prediction.advised;
  job.profile = what.job.profile;
  runs_[id] = {what, what.run_time, 0};
  ++here_;
  arrived_.push_back(id);
}

void PlainCluster::call() {
  wake_ = never;
  plan_.clear(now_);
  brain_.decide({now_, arrived_, ended_, jobs_, cluster_, {}, nodes_, withdrawn_, {}, adopted_},
                plan_);
  for (const Plan::Decision& decision : plan_.decisions()) carry_out(decision);
  if (checks_) look_at_sharing();
  if (plan_.wake() != never) wake_ = std::max(plan_.wake(), now_ + Seconds(1));
  for (const auto* gone : {&ended_, &withdrawn_})
    for (const JobId id : *gone) {
      jobs_.erase(id);
      runs_.erase(id);
      --here_;
    }
  arrived_.clear();
  ended_.clear();
  withdrawn_.clear();
  adopted_.clear();
  nodes_.clear();
}

void PlainCluster::carry_out(const Plan::Decision& decision) {
  using enum Plan::Decision::Kind;
  JobInfo& job = jobs_.at(decision.job);
  Run& run = runs_.at(decision.job);
  if ((decision.kind == start) == job.running) complain("it starts what runs or stops what waits");
  ++run.version;
  if (decision.kind == start) {
    job.running = true;
    job.run_since = now_;
    if (checks_) starts_.try_emplace(run.what.job.number, now_);
    ends_.push({now_ + run.left, decision.job, run.version});
    if (checks_) check_start(decision.job);
    return;
  }
  run.left -= now_ - job.run_since;
  job.attained += now_ - job.run_since;
  job.running = false;
  if (decision.kind == preempt) return;
  run.left = run.what.run_time;
  job.attained = Seconds(0);
  job.alone = true;
}

void PlainCluster::check_start(JobId id) {
  int held = 0;
  for (const Slice& slice : cluster_.allocation(id)) {
    held += std::popcount(slice.gpus);
    if (!cluster_.usable(slice.node)) complain("it starts a job on a node that is not up");
  }
  if (held != jobs_.at(id).gpus) complain(fmt::format("{} of {} GPUs", held, jobs_.at(id).gpus));
}

void PlainCluster::look_at_sharing() {
  int idle = 0;
  for (std::uint32_t node = 0; node < cluster_.node_end(); ++node) {
    if (cluster_.usable(node)) idle += std::popcount(cluster_.free_mask(node));
    for (int gpu = 0; gpu < cluster_.gpus_per_node(); ++gpu) {
      const auto here = cluster_.residents(node, gpu);
      for (const JobId id : here) jobs_.at(id).sharing = here.size() > 1;
    }
  }
  if (idle != cluster_.free_gpus()) complain("free GPUs are not counted right");
}

void PlainCluster::complain(const std::string& what) {
  complaints_.push_back(fmt::format("at {}: {}", seconds_of(now_), what));
}

}  // namespace schedmate::testing
