// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What earlier failures say of the one at hand: where and how often it was seen, and whether its
/// recommendation is still within the caps. Values in, values out; nothing is executed.

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
  std::vector<std::string> blamed;      ///< nodes that the diagnosis named
  std::vector<std::string> allocation;  ///< nodes of the job, empty = not known
  std::optional<double> step;           ///< that the job had reached
  bool same_job = false;                ///< an earlier attempt of the job at hand
};

/// The same failure in earlier jobs, newest first in `past`; nothing when there is none. Nodes are
/// named only when the job at hand had them, too.
[[nodiscard]] std::optional<SeenBefore> seen_before(std::span<const PastFailure> past,
                                                    std::span<const std::string> allocation,
                                                    const Caller& caller);

/// From how many on a recommendation is taken back (ours: against requeue loops on
/// deterministic errors and drains in series).
struct RecommendationCaps {
  std::int64_t restarts_per_job = 3;        ///< restarts that were recommended for one job
  std::int64_t restarts_per_user_hour = 5;  ///< for all jobs of one user within an hour
  std::int64_t nodes_per_hour = 2;          ///< different nodes given up within an hour
  std::int64_t same_cause_same_step = 2;    ///< the failure at hand counts
};

struct CapCase {
  std::span<const PastFailure> past;
  std::string user;
  SimTime ended;               ///< of the job at hand
  std::optional<double> step;  ///< that it had reached
};

/// Beyond a cap: of a job or a cause do_not_restart, of a user or of nodes notify, with the reason
/// in `advice`. Only restart_same and restart_elsewhere are capped, and not of a job that was
/// preempted.
void apply_caps(const CapCase& what, const RecommendationCaps& caps, Diagnosis& made);

}  // namespace schedmate
