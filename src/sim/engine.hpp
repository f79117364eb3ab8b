// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Runs one virtual cluster (or the profiler) from its first to its last event.
///
/// One instant goes: ends (in order of start), arrivals (in order of entry), one call of the policy
/// when anything happened or it asked for it, then node changes. Only instants at which something
/// can change are visited.

#include <functional>
#include <queue>
#include <schedmate/sim.hpp>
#include <vector>

#include "sim/node_echo.hpp"
#include "sim/timeline.hpp"

namespace schedmate {

struct EngineJob {
  std::uint32_t row;  ///< index into Trace::jobs
  SimTime enters;     ///< when it joins the queue
  Seconds work;       ///< run time at full speed
};

struct EngineInput {
  const Trace& trace;
  const PartitionSpec& partition;
  const SimOptions& options;
  Policy policy;
  std::vector<EngineJob> jobs;             ///< by entry, equal times in file order
  std::vector<EngineJob> prior;            ///< ended elsewhere at `enters`: known to the estimator
  Seconds lag{0};                          ///< every run ends this much later (Defects::late_end)
  std::span<const NodeEcho::Change> echo;  ///< node exchange with the profiler, or empty
  SimTime first_submit, last_submit;       ///< of the whole trace
  SimTime open_until;            ///< the policy is still woken up to here when all have ended
  std::function<void()> on_end;  ///< called once for each finished job
};

class Engine {
 public:
  /// `outcomes` is parallel to Trace::jobs; only the rows of input.jobs are written.
  Engine(EngineInput input, std::vector<JobOutcome>& outcomes);
  void run();

  [[nodiscard]] TimelineRecorder& timeline() { return timeline_; }
  [[nodiscard]] const std::vector<std::pair<SimTime, int>>& node_changes() const {
    return node_changes_;
  }
  [[nodiscard]] std::uint64_t calls() const { return calls_; }

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
  struct Run {
    double work = 0;  // left at `synced`, in seconds at full speed
    SimTime synced;
    std::uint64_t order = 0;
    std::uint32_t version = 0;  // of the planned end
    SimTime waiting_since;
    double used_gpus = 0;
  };

  [[nodiscard]] SimTime next_instant();
  void finish_due();
  void admit_due();
  void call_policy();
  void apply(const Plan::Decision& decision);
  void observe();

  void enter(const EngineJob& entry);
  void start(JobId id, bool shares);
  void stop(JobId id, const Placement& left);
  void finish(JobId id);
  void sync(JobId id);
  void plan_end(JobId id);

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
  void set_used(JobId id, double used_gpus);

  [[nodiscard]] Run& at(JobId id) { return runs_[index_of(id)]; }
  [[nodiscard]] JobInfo& info(JobId id) { return infos_[index_of(id)]; }
  [[nodiscard]] const JobInfo& info(JobId id) const { return infos_[index_of(id)]; }
  [[nodiscard]] JobOutcome& outcome(JobId id) { return outcomes_[rows_[index_of(id)]]; }
  void queue_changed(int jobs, int gpus);

  EngineInput input_;
  std::vector<JobOutcome>& outcomes_;
  Cluster cluster_;
  Plan plan_;
  NodeEcho echo_;
  History history_;
  TimelineRecorder timeline_;
  TimelineBin level_;

  SimTime now_;
  SimTime next_call_ = never;
  std::size_t next_job_ = 0;
  std::size_t next_prior_ = 0;
  std::priority_queue<End> ends_;
  std::uint64_t order_ = 0;
  std::uint64_t calls_ = 0;
  std::size_t unfinished_ = 0;    // entered and not ended
  std::uint64_t idle_calls_ = 0;  // since the last end or arrival
  std::vector<JobInfo> infos_;
  std::vector<Run> runs_;
  std::vector<std::uint32_t> rows_;
  std::vector<JobPhase> phases_;
  std::vector<JobId> arrived_, ended_;
  std::vector<std::pair<SimTime, int>> node_changes_;
};

}  // namespace schedmate
