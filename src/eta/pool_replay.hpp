// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One pool of a snapshot, replayed forward. `PoolReplay` is the pool at the instant of the
/// snapshot, after the policy has been told what runs and what waits; run() goes on from a copy of
/// it, so one object serves all samples, from several threads.

#include <array>
#include <functional>
#include <schedmate/eta.hpp>
#include <span>
#include <vector>

#include "eta/shared_limits.hpp"

namespace schedmate::eta {

struct Submission {
  SimTime submit;
  std::uint32_t user = 0;
  std::int32_t gpus = 1;
  FractionalSeconds planned{0};
  double ran_s = 0;
  const NodeSet* nodes = nullptr;  ///< null: all
  std::optional<Rank> rank{};
};

/// What became of a job of the snapshot.
struct Fate {
  SimTime start = never;
  SimTime end = never;
  /// Jobs of the snapshot that held its GPUs last, by index into PoolReplay::jobs().
  static constexpr std::size_t most_freed_by = 4;
  std::array<std::uint32_t, most_freed_by> freed_by{};
  std::uint8_t count_freed_by = 0;
};

/// A node that is down may still hold jobs that the scheduler has not given up.
[[nodiscard]] constexpr NodeState without_jobs_lost(NodeState state) {
  return state == NodeState::down ? NodeState::drained : state;
}

class PoolReplay {
 public:
  PoolReplay(PoolReplay&&) = default;
  PoolReplay& operator=(PoolReplay&&) = default;
  /// `jobs`: those of the pool, in the snapshot's order, which stay where they are. Nothing of the
  /// snapshot is looked at later. Errors: invalid.
  [[nodiscard]] static Result<PoolReplay> make(const QueueSnapshot& snapshot, std::uint32_t pool,
                                               std::span<const SnapshotJob> jobs,
                                               const Scheduler& scheduler);

  [[nodiscard]] std::span<const SnapshotJob> jobs() const { return jobs_; }
  [[nodiscard]] QueueBlock block_of(std::size_t which) const { return blocks_[which]; }
  /// Of QueueBlock::shared_limit, by index into QueueSnapshot::limits.
  [[nodiscard]] std::optional<std::uint32_t> limit_of(std::size_t which) const {
    return limits_[which];
  }
  /// The largest gang smaller than the job that could start now in its place, if nobody went before
  /// it; 0 where none could.
  [[nodiscard]] std::int32_t most_that_fit(const SnapshotJob& job) const;

  /// Until all jobs of the snapshot have ended, or at least started where nothing can stop them
  /// again; run times (in all, seconds) and the result are parallel to jobs(). `next_submission`
  /// gives submissions in order of time, and nothing after the last.
  using NextSubmission = std::function<std::optional<Submission>()>;
  struct Future {
    std::span<const double> run_times_s;
    std::span<const NodeChange> returns;  ///< of nodes that are out, in order of time
    SimTime until;
    /// What happens within this share of the time ahead is shown to the policy in one call; whom
    /// it then starts, starts when its GPUs came free. 0: one call for each instant.
    double resolution = 0;
  };
  [[nodiscard]] std::vector<Fate> run(const Future& future,
                                      const NextSubmission& next_submission) const;

 private:
  struct Run;
  PoolReplay(const QueueSnapshot& snapshot, std::uint32_t pool, std::span<const SnapshotJob> jobs,
             const Scheduler& scheduler)
      : now_(snapshot.now),
        jobs_(jobs),
        cluster_(snapshot.pools[pool], Placer::consolidate),
        policy_(scheduler.decide),
        admission_(snapshot, pool, jobs_, scheduler.heeds_limits) {}
  [[nodiscard]] Result<void> place_running();
  void change_nodes();
  void tell_policy();
  void note_blocks();
  void note_limit(std::uint32_t which);
  [[nodiscard]] bool has_nodes(const SnapshotJob& job, std::span<const NodeChange> returns) const;

  SimTime now_;
  std::span<const SnapshotJob> jobs_;
  // Parallel to jobs_.
  std::vector<QueueBlock> blocks_;
  std::vector<std::optional<std::uint32_t>> limits_;
  std::vector<bool> can_start_;  // as far as the queue decides
  // JobId i is jobs_[i]; later ids are of submissions, and of jobs that enter later.
  JobMap<JobInfo> infos_;
  Cluster cluster_;
  Policy policy_;
  Admission admission_;
  std::vector<Plan::Decision> first_;  // of the first call
  SimTime first_wake_ = never;
  // What is still to come, in order of time: jobs that may start then, and nodes.
  std::vector<std::pair<SimTime, std::uint32_t>> eligible_;
  std::vector<NodeChange> changes_;
  std::vector<std::uint32_t> lack_nodes_;  // jobs that need some which are out
};

}  // namespace schedmate::eta
