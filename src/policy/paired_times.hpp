// SPDX-License-Identifier: Apache-2.0
#pragma once

/// When GPUs will be free (free_times.hpp) where two jobs may share them: they are free when both
/// have ended. A job that outlives its prediction is expected to run as long again as it has.

#include <optional>
#include <schedmate/policy.hpp>

#include "policy/free_times.hpp"

namespace schedmate::policy {

/// Run time that a waiting job is expected to have, in whole seconds, at least one.
[[nodiscard]] Seconds expected_run(const JobInfo& job);
/// What a running one has left; as long again as it has run once it is beyond its estimate.
[[nodiscard]] Seconds expected_left(const JobInfo& job, SimTime now);

class PairedTimes {
 public:
  explicit PairedTimes(const Cluster& idle)
      : times_(idle), node_end_(idle.node_end()), nodes_up_(idle.node_count()) {}

  void follow(const Cluster& cluster, std::uint32_t node) { times_.follow(cluster, node); }
  /// Where nodes have come or gone that nobody told of (Defects::node_echo).
  void follow_size(const Cluster& cluster);
  void start(JobId job, Placement where, SimTime until);
  /// `newcomer` shares the GPUs of `resident`; when each of them is now expected to end.
  struct Pair {
    JobId newcomer{}, resident{};
    SimTime newcomer_until, resident_until;
  };
  void join(const Pair& pair);
  /// Its GPUs are its partner's alone, if it has one.
  void leave(JobId job, const Cluster& cluster);
  void expect_overdue(const View& view);

  [[nodiscard]] SimTime until(JobId job) const { return runs_.at(job).until; }
  [[nodiscard]] SimTime earliest(int gang) { return times_.earliest(gang); }
  [[nodiscard]] bool may_outlast(const Reservation& reserved, const Cluster& cluster, int gpus) {
    return times_.may_outlast(reserved, cluster, gpus);
  }
  [[nodiscard]] const FreeTimes::End* next_end() const { return times_.next_end(); }

 private:
  struct Run {
    SimTime until;
    std::optional<JobId> partner;
    bool holds = true;  ///< its GPUs stand under its name in times_
  };
  [[nodiscard]] SimTime both_until(JobId job) const;

  FreeTimes times_;
  std::uint32_t node_end_;
  int nodes_up_;
  JobMap<Run> runs_;
};

}  // namespace schedmate::policy
