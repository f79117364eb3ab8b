// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The queue of a replayed trace at one instant, as somebody who stood there would have seen it.

#include <schedmate/eta.hpp>
#include <schedmate/job.hpp>
#include <schedmate/sim.hpp>
#include <vector>

namespace schedmate::eta {

/// A replay whose policy never stops a job, with what the policy planned with.
struct ReplayedTrace {
  const Trace& trace;
  const ClusterSpec& cluster;
  const std::vector<JobOutcome>& outcomes;  ///< parallel to Trace::jobs
  const std::vector<Seconds>& planned;      ///< run times as the policy saw them; likewise
  const std::vector<Seconds>& limits;       ///< likewise; empty: nobody had one
  bool limits_kill = false;                 ///< as QueueSnapshot::limits_kill
};

class ReplayedQueue {
 public:
  /// What is referred to outlives the object.
  explicit ReplayedQueue(const ReplayedTrace& replay);

  /// After everything that happened at `now`. Nothing of it depends on what came later: run times
  /// of jobs that had not ended are absent.
  [[nodiscard]] QueueSnapshot snapshot_at(SimTime now) const;
  /// Rows of Trace::jobs of the snapshot's jobs, parallel to them.
  [[nodiscard]] std::vector<std::uint32_t> rows_at(SimTime now) const;

 private:
  [[nodiscard]] std::vector<PastSubmission> past(SimTime now) const;

  ReplayedTrace replay_;
  std::vector<std::uint32_t> pool_of_vc_;  // no_index: not in the cluster
};

}  // namespace schedmate::eta
