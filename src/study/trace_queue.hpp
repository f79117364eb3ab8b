// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Replays of a trace, whose queue at any instant a forecast can go on from.

#include <schedmate/eta.hpp>
#include <schedmate/scheduler.hpp>
#include <schedmate/sim.hpp>
#include <schedmate/trace.hpp>
#include <string>

#include "eta/replayed_queue.hpp"
#include "study/policy_spec.hpp"

namespace schedmate::study {

struct ReplayOptions {
  std::uint64_t seed = 1;
  int threads = 1;
};

/// "--at": seconds of the trace's clock, a date, or "+5d" after its first submission. Errors:
/// unsupported (another form, outside the trace).
[[nodiscard]] Result<SimTime> instant_of(const std::string& text, const Trace& trace);

/// A policy that a forecast can go on with. Errors: unsupported for one that stops running jobs,
/// lets them share GPUs, or asks an Advisor; those of making it.
[[nodiscard]] Result<Scheduler> plain_scheduler(const PolicySpec& policy,
                                                const ClusterSpec& cluster, std::uint64_t seed);

/// A trace replayed under a policy, with what the policy planned with.
struct TraceReplay {
  /// As it is before its first call.
  Scheduler scheduler;
  SimResult result;
  std::vector<Seconds> planned;  ///< parallel to Trace::jobs
  std::vector<Seconds> limits;   ///< likewise; empty: nobody had one

  /// What is given outlives the view.
  [[nodiscard]] eta::ReplayedTrace view(const Trace& trace, const ClusterSpec& cluster) const {
    return {trace, cluster, result.outcomes, planned, limits};
  }
};

/// Errors: of the policy and the replay.
[[nodiscard]] Result<TraceReplay> replay_trace(const Trace& trace, const ClusterSpec& cluster,
                                               const PolicySpec& policy, const ReplayOptions& how);

}  // namespace schedmate::study
