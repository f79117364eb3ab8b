// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the history tells of a job, in the shape of the document of a job that is followed
/// (schedmate.job.v1).

#include <schedmate/connector.hpp>
#include <schedmate/store.hpp>
#include <vector>

#include "base/document.hpp"
#include "settings/session.hpp"

namespace schedmate::daemon {

/// Of a job that is followed no more. Its attempts are those that were kept; of actions, an
/// expected end and the series of its GPUs' use nothing is.
[[nodiscard]] Document past_job_document(const JobRecord& record);

/// What its user was answered when it came (docs/formats/advice.md has the names).
[[nodiscard]] Document advice_document(const GivenAdvice& advice);

/// A past run that an advice stood on: how long it took, and how fast it was.
[[nodiscard]] Document neighbour_document(const Neighbour& neighbour, const JobRecord& run);

/// Runs that had ended by `now`, by their end, of at most so many submissions, the newest: what
/// run times are expected from. Errors: those of the history.
[[nodiscard]] Result<std::vector<SeenJob>> past_runs(Store& store, SimTime now, std::size_t most);
/// The same of the history that the session names; none where there is no history, or it cannot be
/// read.
[[nodiscard]] std::vector<SeenJob> past_runs(const settings::Session& session, SimTime now,
                                             std::size_t most);

}  // namespace schedmate::daemon
