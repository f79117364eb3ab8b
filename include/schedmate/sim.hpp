// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The simulator: a trace, a cluster and a scheduler give the start and end of every job. It is
/// event-driven on integer seconds with a total order of events (time; ends before arrivals before
/// decisions; then sequence number; docs/decisions/0001), so equal inputs give equal results to the
/// last bit. Virtual clusters are independent of each other and may run on several threads with
/// the same result. Times are on the trace's clock.

#include <functional>
#include <schedmate/costs.hpp>
#include <schedmate/estimator.hpp>
#include <schedmate/job.hpp>
#include <schedmate/scheduler.hpp>
#include <schedmate/time.hpp>
#include <string>
#include <vector>

namespace schedmate {

/// Where a job is at one instant of a replay.
struct JobStanding {
  /// Index into Trace::jobs.
  std::uint32_t row = 0;
  JobPhase phase = JobPhase::queued;
};

enum class JobStatus : std::uint8_t {
  finished,
  infeasible,  ///< larger than its VC (or its VC is not in the cluster): never queued
  stalled,     ///< still queued or running when nothing could happen any more
};

/// What became of one job.
struct JobOutcome {
  JobStatus status = JobStatus::stalled;
  bool profiled = false;
  bool finished_in_profiler = false;
  /// Not treated as sharing at its end.
  bool exclusive = true;
  bool started = false;
  std::int32_t preemptions = 0;
  /// Taken off shared GPUs with its progress lost.
  std::int32_t evictions = 0;
  /// Of the infrastructure (FailureCosts).
  std::int32_t failures = 0;
  /// Between a failure and its return to the queue.
  Seconds down{0};
  /// First start, in the VC, or in the profiler when it finished there.
  SimTime start;
  SimTime end;
  /// Waiting in all queues; and of it, in front of the profiler.
  Seconds queue{0};
  Seconds profiler_queue{0};
  /// Last speed relative to running alone.
  double rate = 1.0;
  /// Work left at its end, in seconds; not above 0, by rounding to whole seconds.
  double remaining = 0.0;
  /// When it last joined another job's GPUs, and last had its GPUs to itself again; zero = never.
  SimTime packed_at;
  SimTime unpacked_at;
  /// Where its GPUs' time went, in GPU seconds of all runs: held = work + lost + overhead + slowed.
  /// Lost is work that had to be done again; overhead is preemptions, profiling, and failures until
  /// somebody saw them.
  double held_gpu_s = 0;
  double lost_gpu_s = 0;
  double overhead_gpu_s = 0;
  /// Of its last run; Slice::node is the printed node number.
  Placement nodes;
};

/// One bin of the timeline, means over the bin, summed over VCs.
struct TimelineBin {
  double busy_gpus = 0;
  /// Free GPUs on partly used nodes.
  double stranded_gpus = 0;
  double queued_jobs = 0;
  double queued_gpus = 0;
  double running_jobs = 0;
  /// Busy GPUs weighted with their jobs' utilisation (0 when unknown).
  double used_gpus = 0;
};

struct Timeline {
  SimTime first;
  Seconds step{600};
  std::vector<TimelineBin> bins;
  /// Means between first and last submission, exact.
  TimelineBin submitting;
  /// Largest number of queued jobs at one instant, all VCs together.
  std::int64_t peak_queue = 0;
};

struct SimOptions {
  Defects defects;
  Placer placer = Placer::consolidate;
  PreemptionCost preemption;
  /// Of make_estimator(); empty = true durations.
  Estimator estimator;
  Costs costs;
  /// Of what the costs draw.
  std::uint64_t seed = 1;
  int threads = 1;
  /// Called with the share of jobs that have finished, from any of the threads.
  std::function<void(double done)> progress;

  /// One decision point of one VC. Valid during the call.
  struct Moment {
    SimTime now;
    const std::string& vc;
    const Cluster& cluster;
    /// Jobs that wait, run, or have ended since the last moment, and where each is.
    const JobMap<JobInfo>& jobs;
    const JobMap<JobStanding>& standing;
  };
  /// Called after every decision point of every VC, from its thread (for --explain).
  std::function<void(const Moment&)> observer;
};

struct SimResult {
  /// Parallel to Trace::jobs.
  std::vector<JobOutcome> outcomes;
  Timeline timeline;
  /// A node was added (+1) or removed (-1).
  std::vector<std::pair<SimTime, int>> profiler_scaling;
  std::uint64_t decision_points = 0;
  int total_gpus = 0;
};

/// Replays the trace, with a copy of the scheduler's policy and of the estimator for each VC.
/// Errors: invalid when the cluster has no partition for any job; nothing else. Jobs that cannot
/// run are outcomes, not errors.
[[nodiscard]] Result<SimResult> simulate(const Trace& trace, const ClusterSpec& cluster,
                                         const Scheduler& scheduler, const SimOptions& options);

}  // namespace schedmate
