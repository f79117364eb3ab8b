// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What earlier failures say of the one at hand: where and how often it was seen, and whether its
/// recommendation is still within the caps. Ours, around the Failure Handler of paper 3.3. Values
/// in, values out; nothing is executed, and any thread may call.

#include <schedmate/caller.hpp>
#include <schedmate/diagnosis.hpp>
#include <schedmate/time.hpp>
#include <span>

namespace schedmate {

/// A failure that the history keeps.
struct PastFailure {
  std::string job_id, user;
  SimTime ended;
  std::string fingerprint, reason, by;
  FailureClass verdict = FailureClass::other;
  Recommendation recommended = Recommendation::notify;
  /// Nodes that the diagnosis named.
  std::vector<std::string> blamed;
  /// Nodes of the job; empty = not known.
  std::vector<std::string> allocation;
  /// Training step that the job had reached. Empty: its log did not show it.
  std::optional<double> step;
  /// It is an earlier attempt of the job at hand.
  bool same_job = false;
};

/// Sums up the same failure in earlier jobs, newest first in `past`; empty when there is none. It
/// names a node only when the job at hand and at least three of them had it, and a job only when
/// the caller may see it, ten at most.
[[nodiscard]] std::optional<EarlierOccurrences> seen_before(std::span<const PastFailure> past,
                                                            std::span<const std::string> allocation,
                                                            const Caller& caller);

/// From how many on a recommendation is taken back: against requeue loops on deterministic errors
/// and drains in series. Settings caps.*.
struct RecommendationCaps {
  /// Restarts that were recommended for one job.
  std::int64_t restarts_per_job = 3;
  /// For all jobs of one user within an hour.
  std::int64_t restarts_per_user_hour = 5;
  /// Different nodes given up within an hour.
  std::int64_t nodes_per_hour = 2;
  /// Failures of one job by the same cause at the same step, the one at hand included.
  std::int64_t same_cause_same_step = 2;
};

struct CapCase {
  std::span<const PastFailure> past;
  std::string user;
  /// When the job at hand ended, and the step that it had reached.
  SimTime ended;
  std::optional<double> step;
};

/// Changes a recommendation that is beyond a cap: of a job or a cause into do_not_restart, of a
/// user or of nodes into notify, with the reason in `advice`. It caps only restart_same and
/// restart_elsewhere, and never those of a job that was preempted.
void apply_caps(const CapCase& what, const RecommendationCaps& caps, Diagnosis& made);

}  // namespace schedmate
