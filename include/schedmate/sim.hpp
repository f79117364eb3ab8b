// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The simulator: a trace, a cluster and a scheduler give the start and end of every job. It is
/// event-driven on integer seconds with a total order of events (time; ends before arrivals before
/// decisions; then sequence number), so equal inputs give equal results to the last bit. Virtual
/// clusters are independent of each other and may run on several threads with the same result.

#include <functional>
#include <schedmate/costs.hpp>
#include <schedmate/estimator.hpp>
#include <schedmate/job.hpp>
#include <schedmate/scheduler.hpp>
#include <schedmate/time.hpp>
#include <string>
#include <vector>

namespace schedmate {

/// Where a job stands at one instant of a replay.
enum class JobPhase : std::uint8_t { queued, running, ended };
struct JobStanding {
  std::uint32_t row = 0;  ///< index into Trace::jobs
  JobPhase phase = JobPhase::queued;
};

enum class JobStatus : std::uint8_t {
  finished,
  infeasible,  ///< larger than its VC (or its VC is not in the cluster): never queued
  stalled,     ///< still queued or running when nothing could happen any more
};

struct JobOutcome {
  JobStatus status = JobStatus::stalled;
  bool profiled = false;
  bool finished_in_profiler = false;
  bool exclusive = true;  ///< not treated as sharing at its end
  bool started = false;
  std::int32_t preemptions = 0;
  std::int32_t evictions = 0;  ///< taken off shared GPUs with its progress lost
  std::int32_t failures = 0;   ///< of the infrastructure (FailureCosts)
  Seconds down{0};             ///< between a failure and its return to the queue
  SimTime start;  ///< first start (in the VC, or in the profiler when it finished there)
  SimTime end;
  Seconds queue{0};           ///< waiting in all queues
  Seconds profiler_queue{0};  ///< of it, in front of the profiler
  double rate = 1.0;          ///< last speed relative to running alone
  double remaining = 0.0;     ///< work left at its end, seconds (<= 0 by rounding to whole seconds)
  SimTime packed_at;          ///< last joined another job's GPUs; zero = never
  SimTime unpacked_at;        ///< last had its GPUs to itself again; zero = never
  // Where its GPUs' time went, GPU seconds: held = work + lost + overhead + slowed.
  double held_gpu_s = 0;      ///< on GPUs, in all runs
  double lost_gpu_s = 0;      ///< work that had to be done again
  double overhead_gpu_s = 0;  ///< preemptions, profiling, failures until they were seen
  Placement nodes;            ///< of its last run; Slice::node is the printed node number
};

/// One bin of the timeline, means over the bin, summed over VCs.
struct TimelineBin {
  double busy_gpus = 0;
  double stranded_gpus = 0;  ///< free GPUs on partly used nodes
  double queued_jobs = 0;
  double queued_gpus = 0;
  double running_jobs = 0;
  double used_gpus = 0;  ///< busy GPUs weighted with their jobs' utilisation (0 when unknown)
};

struct Timeline {
  SimTime first;
  Seconds step{600};
  std::vector<TimelineBin> bins;
  TimelineBin submitting;       ///< means between first and last submission, exact
  std::int64_t peak_queue = 0;  ///< largest number of queued jobs at one instant, all VCs together
};

struct SimOptions {
  Defects defects;
  Placer placer = Placer::consolidate;
  PreemptionCost preemption;
  Estimator estimator;  ///< make_estimator(); empty = true durations
  Costs costs;
  std::uint64_t seed = 1;  ///< of what the costs draw
  int threads = 1;
  std::function<void(double done)> progress;  ///< share of jobs finished, from any thread

  /// Called after every decision point of every VC, from its thread (for --explain).
  struct Moment {
    SimTime now;
    const std::string& vc;
    const Cluster& cluster;
    const JobMap<JobInfo>& jobs;          ///< that wait, run, or have ended since the last moment
    const JobMap<JobStanding>& standing;  ///< of the same jobs
  };
  std::function<void(const Moment&)> observer;
};

struct SimResult {
  std::vector<JobOutcome> outcomes;  ///< parallel to Trace::jobs
  Timeline timeline;
  std::vector<std::pair<SimTime, int>> profiler_scaling;  ///< node added (+1) or removed (-1)
  std::uint64_t decision_points = 0;
  int total_gpus = 0;
};

/// Replays the trace. Errors: invalid when the cluster has no partition for any job; nothing else:
/// jobs that cannot run are outcomes, not errors.
[[nodiscard]] Result<SimResult> simulate(const Trace& trace, const ClusterSpec& cluster,
                                         const Scheduler& scheduler, const SimOptions& options);

}  // namespace schedmate
