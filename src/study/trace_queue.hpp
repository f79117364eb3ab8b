// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The queue that a replay of a trace has at one instant.

#include <schedmate/eta.hpp>
#include <schedmate/scheduler.hpp>
#include <schedmate/trace.hpp>
#include <string>

#include "study/policy_spec.hpp"

namespace schedmate::study {

struct TraceQueue {
  QueueSnapshot snapshot;
  /// Parallel to snapshot.jobs.
  std::vector<std::string> users;
  /// The policy as it is before its first call.
  Scheduler scheduler;
};

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

/// Nothing that ended or came after `now` is known to the snapshot. Errors: of the policy and the
/// replay.
[[nodiscard]] Result<TraceQueue> queue_of_trace(const Trace& trace, const ClusterSpec& cluster,
                                                const PolicySpec& policy, SimTime now,
                                                const ReplayOptions& options);

}  // namespace schedmate::study
