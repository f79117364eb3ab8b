// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A virtual cluster that is driven by a plain loop: no trace, no simulator. Jobs come, end and are
/// taken back, nodes fall out and come back, and the policy is called as a live driver calls it.
/// Every decision is checked when it is made. Jobs that share GPUs run as fast as alone.

#include <map>
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
  /// Another policy takes over, which knows nothing of what was before.
  void hand_over(Policy decide);
  /// Goes to the next instant at which something happens; false: there is none.
  bool step();

  [[nodiscard]] SimTime now() const { return now_; }
  [[nodiscard]] std::uint64_t finished() const { return finished_; }
  /// First starts, by KnownJob::number.
  [[nodiscard]] const std::map<std::uint64_t, SimTime>& starts() const { return starts_; }
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
  void complain(const std::string& what);

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
  std::vector<JobId> arrived_, ended_, withdrawn_, adopted_;
  std::multimap<SimTime, std::uint64_t> withdrawals_;  // numbers of jobs
  std::vector<std::uint32_t> nodes_;
  std::map<std::uint64_t, SimTime> starts_;
  std::uint32_t entered_ = 0;
  std::uint64_t pushed_ = 0, finished_ = 0, lost_runs_ = 0, here_ = 0, taken_back_ = 0;
  std::vector<std::string> complaints_;
};

}  // namespace schedmate::testing
