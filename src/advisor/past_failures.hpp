// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Failures as the history keeps them: `history finish --log` writes the diagnosis into the log
/// summary of the outcome.

#include <schedmate/recovery.hpp>
#include <schedmate/store.hpp>

namespace schedmate::advisor {

/// The failure in the log summary of a record; nothing when it has none, or none that was a
/// failure.
[[nodiscard]] std::optional<PastFailure> past_failure(const JobRecord& record);

/// Whose failures are looked for.
struct FailureSubject {
  std::string job_id, user;  ///< "" = not known
  std::string fingerprint;
  SimTime ended;
};

/// Earlier jobs with this fingerprint, newest first: at most 1000, the newest 64 with their nodes.
/// The job itself is left out. Errors: those of the store.
[[nodiscard]] Result<std::vector<PastFailure>> same_failures(Store& store,
                                                             const FailureSubject& subject);

/// What caps count: failures of the last hour, among the 1000 jobs submitted last that ended, and
/// earlier attempts of the same job (same user, folder and entry; of a job that the history does
/// not know same user and fingerprint) since it last completed. What ended later is left out.
/// Errors: those of the store.
[[nodiscard]] Result<std::vector<PastFailure>> failures_for_caps(Store& store,
                                                                 const FailureSubject& subject);

}  // namespace schedmate::advisor
