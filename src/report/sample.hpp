// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A replay small enough to work every figure out by hand, for the tests of this folder.
///
///   row  user  gpus  submit  run  start  end   queue  jct  slowdown (jct / max(run, 10), >= 1)
///    0   ada     1     100    50    100   150      0    50   1
///    1   bob     4     100   100    150   250     50   150   1.5
///    2   ada     8     200     5    250   255     50    55   5.5
///    3   bob     2     300   100    300   400      0   100   1
///    4   ada    99     300    10   infeasible
/// Cluster: VC "v" with 2 nodes of 4 GPUs. First to last submission: 200 s, 1,600 GPU seconds.

#include <schedmate/report.hpp>

namespace schedmate::report::sample {

inline Job job(std::uint32_t user, std::int32_t gpus, std::int64_t submit_s,
               std::int64_t duration_s) {
  Job made;
  made.id = "job";
  made.user = user;
  made.gpus = gpus;
  made.submit = at(submit_s);
  made.duration = Seconds(duration_s);
  return made;
}

inline Trace trace() {
  Trace made;
  made.users = {"ada", "bob"};
  made.vcs = {"v"};
  made.jobs = {job(0, 1, 100, 50), job(1, 4, 100, 100), job(0, 8, 200, 5), job(1, 2, 300, 100),
               job(0, 99, 300, 10)};
  made.report.rows = 6;
  made.report.kept = 5;
  made.report.dropped = {{"no GPUs", 1}};
  return made;
}

inline ClusterSpec cluster() {
  return {{{.name = "v", .nodes = 2, .gpus_per_node = 4, .gpu_type = ""}}};
}

inline JobOutcome outcome(const Job& job, std::int64_t start_s, std::int64_t end_s) {
  JobOutcome made;
  made.status = JobStatus::finished;
  made.started = true;
  made.start = at(start_s);
  made.end = at(end_s);
  made.queue = made.start - job.submit;
  return made;
}

inline SimResult result(const Trace& trace) {
  SimResult made;
  made.total_gpus = 8;
  made.outcomes = {outcome(trace.jobs[0], 100, 150),
                   outcome(trace.jobs[1], 150, 250),
                   outcome(trace.jobs[2], 250, 255),
                   outcome(trace.jobs[3], 300, 400),
                   {}};
  made.outcomes[1].preemptions = 2;
  made.outcomes[1].nodes = {{.node = 1, .gpus = 0b1111}};
  made.outcomes[2].nodes = {{.node = 9999, .gpus = 0b1}, {.node = 0, .gpus = 0b1000}};
  made.outcomes[4].status = JobStatus::infeasible;
  made.timeline.first = at(100);
  made.timeline.step = Seconds(100);
  made.timeline.bins = {{.busy_gpus = 2.5, .stranded_gpus = 1, .queued_jobs = 0.5},
                        {.busy_gpus = 2.4, .stranded_gpus = 3},
                        {.busy_gpus = 2}};
  made.timeline.submitting = {.busy_gpus = 2.45, .stranded_gpus = 2};  // means of the first two
  made.timeline.peak_queue = 1;
  return made;
}

inline RunRecord record(const Trace& trace, const ClusterSpec& cluster) {
  return {.run = {.label = "fifo",
                  .policy = "fifo",
                  .estimator = "oracle",
                  .mode = "repaired",
                  .settings = {{"placer", "consolidate"}}},
          .trace = trace,
          .cluster = cluster,
          .result = result(trace)};
}

}  // namespace schedmate::report::sample
