// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Runs one virtual cluster (or the profiler) from its first to its last event. One instant: ends
/// (by start), arrivals (by entry), one call of the policy when anything happened or it asked for
/// it, then node changes. Others are not visited. Engines that feed each other take their instants
/// in turn (simulate.cpp).

#include <map>
#include <optional>
#include <queue>
#include <schedmate/executor.hpp>
#include <schedmate/sim.hpp>
#include <vector>

#include "sim/engine_input.hpp"
#include "sim/node_echo.hpp"
#include "sim/timeline.hpp"

namespace schedmate::sim {
class Engine {
 public:
  /// `outcomes` is parallel to Trace::jobs; only the rows of jobs that enter are written.
  Engine(EngineInput input, std::vector<JobOutcome>& outcomes);

  /// A job that enters later, besides those of the input; not before the present instant.
  void admit(const EngineJob& job) { coming_.push(job); }
  /// The job of that row, while it waits here and has not started.
  [[nodiscard]] std::optional<JobId> waiting(std::uint32_t row) const;
  /// Takes such a job out of the queue at `now`.
  void withdraw(JobId id, SimTime now);
  /// From outside: who goes first among those that wait, and whether a node is in service. The
  /// policy is asked as soon as it may be.
  void set_order(JobId id, std::int64_t order, SimTime now);
  void set_state(std::uint32_t node, NodeState state, SimTime now);
  /// A job that ended elsewhere: the estimator knows it from then on.
  void learn(const EngineJob& ended) { ended_elsewhere_.push(ended); }
  /// While open, more jobs may be admitted.
  void keep_open(bool open) { open_ = open; }
  void set_echo(std::span<const NodeEcho::Change> changes) { echo_.see(changes); }
  /// Ends and learns what ends by `now`, so that predict() and fits() know it; step(now) comes
  /// after.
  void settle(SimTime now);
  [[nodiscard]] bool fits(int gpus) const { return cluster_.fits(gpus); }
  /// What its estimator says at `now` of a job that is about to enter.
  [[nodiscard]] Prediction predict(std::uint32_t row, SimTime now);

  /// The next instant at which something can change, or `never`.
  [[nodiscard]] SimTime next_instant();
  void step(SimTime instant);
  void run();
  /// Somebody else than the policy decides, not before the last instant, nor after the next.
  void decide(SimTime now, const Policy& hand);
  Cluster& cluster() { return cluster_; }
  TimelineRecorder& timeline() { return timeline_; }
  const auto& node_changes() const { return node_changes_; }
  std::uint64_t calls() const { return calls_; }

 private:
  struct End {
    SimTime at;
    std::uint64_t order;  // of the start of the run
    JobId job;
    std::uint32_t version;
    bool operator<(const End& other) const {
      return std::tie(at, order) > std::tie(other.at, other.order);
    }
  };
  enum class Cut : std::uint8_t { none, failure, memory };
  struct Run {
    EngineJob entry{};
    Cut cut = Cut::none;  // why the work ends before the job does
    double work = 0;      // left at `synced`, in seconds at full speed
    double whole = 0;     // what an evicted job begins with again
    SimTime synced;
    std::uint64_t order = 0;
    std::uint32_t version = 0;  // of the planned end
    SimTime waiting_since;
    double used_gpus = 0;
  };
  struct Later {
    bool operator()(const EngineJob& a, const EngineJob& b) const { return b < a; }
  };
  using Coming = std::priority_queue<EngineJob, std::vector<EngineJob>, Later>;

  void finish_due();
  void measure_level();
  void admit_arrivals();
  void learn_due(SimTime until);
  void call_policy();
  void carry_out();
  void forget_ended();
  void forget(JobId id);
  void apply(const Plan::Decision& decision);
  void observe();

  [[nodiscard]] const EngineJob* next_entry() const;
  void enter(const EngineJob& entry);
  [[nodiscard]] JobInfo describe(JobId id, const EngineJob& entry);
  void start_run(JobId id, bool shares);
  void stop(JobId id, const Placement& left);
  void charge_preemption(JobId id);
  void lose_progress(JobId id);
  void end_run(JobId id);
  void leave(JobId id);
  void finish(JobId id);
  void sync(JobId id);
  void plan_end(JobId id);

  // attempts.cpp: runs that do not reach the end of their job
  void plan_failure(const EngineJob& entry, Run& run) const;
  void plan_memory_crash(JobId id);
  void interrupt(JobId id);
  /// The Executor of a simulated cluster.
  [[nodiscard]] RecoveryOutcome carry_out(const RecoveryOrder& order) const;
  void restart_futile(JobId id);
  void count_futile(JobId id);

  // sharing.cpp: speed and utilisation of jobs that share GPUs
  [[nodiscard]] std::vector<JobId> running_on(const Placement& where, JobId except) const;
  void update_sharing(JobId id);
  void part(JobId id, const std::vector<JobId>& others);
  struct Share {
    double rate = 1;
    double used_gpus = 0;
    bool alone = true;
  };
  [[nodiscard]] Share share_of(JobId id) const;
  [[nodiscard]] const Profile* true_profile(JobId id) const;
  void set_rate(JobId id, double rate);
  void set_used(JobId id, double used_gpus);

  [[nodiscard]] Run& at(JobId id) { return runs_.at(id); }
  [[nodiscard]] JobInfo& info(JobId id) { return infos_.at(id); }
  [[nodiscard]] const JobInfo& info(JobId id) const { return infos_.at(id); }
  [[nodiscard]] std::uint32_t row_of(JobId id) const { return standing_.at(id).row; }
  [[nodiscard]] bool is_off(const End& end) const {
    const Run* run = runs_.find(end.job);
    return run == nullptr || run->version != end.version;
  }
  /// A futile restart is nothing to its job, which has ended; count_futile() adds what it cost.
  [[nodiscard]] JobOutcome& outcome(JobId id) {
    const bool futile = at(id).entry.kind == EngineJob::Kind::futile;
    return futile ? futile_[id] : outcomes_[row_of(id)];
  }
  void queue_changed(int jobs, int gpus);
  void call_at(SimTime when) {
    next_call_ = std::min(next_call_, round_up(when, input_.partition.round));
  }

  EngineInput input_;
  std::vector<JobOutcome>& outcomes_;
  std::map<JobId, JobOutcome> futile_;
  Cluster cluster_;
  Plan plan_;
  NodeEcho echo_;
  TimelineRecorder timeline_;
  TimelineBin level_;

  SimTime now_;
  SimTime next_call_ = never;
  std::size_t next_job_ = 0;
  Coming coming_, ended_elsewhere_;
  bool open_ = false;
  std::priority_queue<End> ends_;
  std::uint64_t order_ = 0;
  std::uint64_t calls_ = 0;
  std::size_t unfinished_ = 0;    // entered and not ended
  std::uint64_t idle_calls_ = 0;  // since the last end or arrival
  // Of jobs that are here, or whose end the policy has not seen yet.
  std::uint32_t entered_ = 0;  // in all: the next id
  JobMap<JobInfo> infos_;
  JobMap<Run> runs_;
  JobMap<JobStanding> standing_;
  JobMap<Profile> predicted_profiles_;  // what JobInfo::profile points to when nothing was measured
  std::vector<JobId> arrived_, ended_, withdrawn_, reordered_;
  std::vector<std::uint32_t> changed_nodes_;
  std::vector<std::pair<SimTime, int>> node_changes_;
};

}  // namespace schedmate::sim
