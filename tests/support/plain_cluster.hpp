// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A virtual cluster that is driven by a plain loop: no trace, no simulator. Jobs come, end and are
/// taken back, nodes fall out and come back, and the policy is called as a live driver calls it.
/// Every decision is checked when it is made. Jobs that share GPUs run as fast as alone.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <schedmate/estimator.hpp>
#include <schedmate/policy.hpp>
#include <string>
#include <vector>

namespace schedmate::testing {

class PlainCluster {
 public:
  struct Brain {
    Policy decide;
    Estimator estimator;
  };
  /// `checks`: every decision, and the cluster after each call.
  PlainCluster(const PartitionSpec& spec, Brain brain, bool checks = true)
      : checks_(checks),
        brain_(std::move(brain)),
        cluster_(spec, Placer::consolidate),
        plan_(cluster_, SimTime()) {}

  /// A job that is submitted then, not before the present.
  struct Submission {
    KnownJob job;
    Seconds run_time{0};
  };
  void submit(const Submission& job) { coming_.push({job.job.submit, ++pushed_, job}); }
  /// The node is in that state from then on.
  void change(SimTime when, std::uint32_t node, NodeState state) {
    changes_.emplace(when, std::pair(node, state));
  }
  /// A job that waits then is taken back by its owner.
  void withdraw(SimTime when, std::uint64_t number) { withdrawals_.emplace(when, number); }
  /// Goes to the next instant at which something happens; false: there is none.
  bool step();

  [[nodiscard]] SimTime now() const { return now_; }
  [[nodiscard]] std::uint64_t finished() const { return finished_; }
  [[nodiscard]] std::uint64_t withdrawn() const { return taken_back_; }
  [[nodiscard]] std::uint64_t lost_runs() const { return lost_runs_; }  ///< to a node that fell out
  /// Jobs for which there is memory.
  [[nodiscard]] std::size_t capacity() const { return jobs_.capacity(); }
  [[nodiscard]] const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  struct Run {
    Submission what;
    Seconds left{0};
    std::uint32_t version = 0;  // counts starts and stops
  };
  struct End {
    SimTime at;
    JobId job;
    std::uint32_t version;
    bool operator<(const End& other) const {
      return std::tie(at, job) > std::tie(other.at, other.job);
    }
  };
  struct Coming {
    SimTime at;
    std::uint64_t order;
    Submission what;
    bool operator<(const Coming& other) const {
      return std::tie(at, order) > std::tie(other.at, other.order);
    }
  };

  void end_due();
  void change_due();
  void enter_due();
  void withdraw_due();
  void enter(const Submission& what);
  void lose(JobId id);
  void leave(JobId id);
  void call();
  void carry_out(const Plan::Decision& decision);
  void look_at_sharing();
  void check_start(JobId id);
  void complain(const std::string& what) {
    complaints_.push_back(fmt::format("at {}: {}", seconds_of(now_), what));
  }

  bool checks_;
  Brain brain_;
  Cluster cluster_;
  Plan plan_;
  SimTime now_ = SimTime::min(), wake_ = never;
  JobMap<JobInfo> jobs_;
  JobMap<Run> runs_;
  std::priority_queue<End> ends_;
  std::priority_queue<Coming> coming_;
  std::multimap<SimTime, std::pair<std::uint32_t, NodeState>> changes_;
  std::vector<JobId> arrived_, ended_, withdrawn_;
  std::multimap<SimTime, std::uint64_t> withdrawals_;  // numbers of jobs
  std::vector<std::uint32_t> nodes_;
  std::uint32_t entered_ = 0;
  std::uint64_t pushed_ = 0, finished_ = 0, lost_runs_ = 0, here_ = 0, taken_back_ = 0;
  std::vector<std::string> complaints_;
};

inline bool PlainCluster::step() {
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

inline void PlainCluster::end_due() {
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

inline void PlainCluster::leave(JobId id) {
  cluster_.release(id);
  jobs_.at(id).running = false;
  ended_.push_back(id);
}

/// To the policy it has ended; it comes back a minute later and begins anew.
inline void PlainCluster::lose(JobId id) {
  Submission again = runs_.at(id).what;
  coming_.push({now_ + Seconds(60), ++pushed_, again});
  ++lost_runs_;
  leave(id);
}

inline void PlainCluster::change_due() {
  for (; !changes_.empty() && changes_.begin()->first <= now_; changes_.erase(changes_.begin())) {
    const auto [node, state] = changes_.begin()->second;
    if (state == NodeState::down)
      for (const JobId id : cluster_.jobs_on(node)) lose(id);
    cluster_.set_state(node, state);
    nodes_.push_back(node);
  }
}

/// A job that runs by then, or has left, is left alone.
inline void PlainCluster::withdraw_due() {
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

inline void PlainCluster::enter_due() {
  for (; !coming_.empty() && coming_.top().at <= now_; coming_.pop()) enter(coming_.top().what);
}

inline void PlainCluster::enter(const Submission& what) {
  const JobId id{entered_++};
  const Prediction foretold = brain_.estimator({what.job, now_});
  JobInfo& job = jobs_[id];
  job.id = what.job.id;
  job.user = what.job.user;
  job.gpus = what.job.gpus;
  job.submit = what.job.submit;
  job.entered = now_;
  job.estimate = job.expected = foretold.run_time;
  job.distribution = foretold.distribution;
  job.advised = foretold.advised;
  job.profile = what.job.profile;
  runs_[id] = {what, what.run_time, 0};
  ++here_;
  arrived_.push_back(id);
}

inline void PlainCluster::call() {
  wake_ = never;
  plan_.clear(now_);
  brain_.decide({now_, arrived_, ended_, jobs_, cluster_, {}, nodes_, withdrawn_}, plan_);
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
  nodes_.clear();
}

inline void PlainCluster::carry_out(const Plan::Decision& decision) {
  using enum Plan::Decision::Kind;
  JobInfo& job = jobs_.at(decision.job);
  Run& run = runs_.at(decision.job);
  if ((decision.kind == start) == job.running) complain("it starts what runs or stops what waits");
  ++run.version;
  if (decision.kind == start) {
    job.running = true;
    job.run_since = now_;
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

inline void PlainCluster::check_start(JobId id) {
  int held = 0;
  for (const Slice& slice : cluster_.allocation(id)) {
    held += std::popcount(slice.gpus);
    if (!cluster_.usable(slice.node)) complain("it starts a job on a node that is not up");
  }
  if (held != jobs_.at(id).gpus) complain(fmt::format("{} of {} GPUs", held, jobs_.at(id).gpus));
}

inline void PlainCluster::look_at_sharing() {
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

}  // namespace schedmate::testing
