// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One pool of a snapshot, replayed forward. `PoolReplay` is the pool at the instant of the
/// snapshot, after the policy has been told what runs and what waits; run() goes on from a copy of
/// it, so one object serves all samples, from several threads.

#include <functional>
#include <schedmate/eta.hpp>
#include <span>
#include <vector>

namespace schedmate::eta {

/// What a sample says of a job.
struct Drawn {
  double run_time_s = 0;  ///< in all, longer than it has run already
};

struct Submission {
  SimTime submit;
  std::uint32_t user = 0;
  std::int32_t gpus = 1;
  FractionalSeconds planned{0};
  double run_time_s = 0;
};

/// What became of a job of the snapshot.
struct Fate {
  SimTime start = never;
  SimTime end = never;
  /// Jobs of the snapshot that held its GPUs last, by index; at most four.
  std::vector<std::uint32_t> freed_by;
};

class PoolReplay {
 public:
  /// `jobs`: those of the pool, by index into QueueSnapshot::jobs. Errors: invalid.
  [[nodiscard]] static Result<PoolReplay> make(const QueueSnapshot& snapshot, std::uint32_t pool,
                                               std::vector<std::uint32_t> jobs,
                                               const Scheduler& scheduler);

  /// Indices into QueueSnapshot::jobs.
  [[nodiscard]] std::span<const std::uint32_t> jobs() const { return jobs_; }
  [[nodiscard]] QueueBlock block_of(std::size_t which) const { return blocks_[which]; }
  /// The largest gang of less than `below` GPUs that could start now, if nobody went before it; 0
  /// where none could.
  [[nodiscard]] std::int32_t most_that_fit(std::int32_t below) const;

  /// Until all jobs of the snapshot have ended, or at least started where nothing can stop them
  /// again; `drawn` and the result are parallel to jobs(). `next_submission` gives submissions in
  /// order of time, and nothing after the last.
  using NextSubmission = std::function<std::optional<Submission>()>;
  [[nodiscard]] std::vector<Fate> run(std::span<const Drawn> drawn,
                                      const NextSubmission& next_submission, SimTime until) const;

 private:
  struct Run;
  PoolReplay(const QueueSnapshot& snapshot, const PartitionSpec& spec, const Scheduler& scheduler)
      : snapshot_(&snapshot), cluster_(spec, Placer::consolidate), policy_(scheduler.decide) {}
  [[nodiscard]] Result<void> place_running();
  void change_nodes();
  void tell_policy();
  void note_blocks();

  const QueueSnapshot* snapshot_;
  std::vector<std::uint32_t> jobs_;
  std::vector<QueueBlock> blocks_;  // parallel to jobs_
  // JobId i is jobs_[i]; later ids are of submissions.
  JobMap<JobInfo> infos_;
  Cluster cluster_;
  Policy policy_;
  std::vector<Plan::Decision> first_;  // of the first call
  SimTime first_wake_ = never;
  // What is still to come, in order of time: jobs that may start then, and nodes.
  std::vector<std::pair<SimTime, JobId>> eligible_;
  std::vector<NodeChange> changes_;
};

}  // namespace schedmate::eta
