// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What Slurm says of jobs, as records of the history: from accounting dumps, and from its own
/// programs where they are installed (process/run_tool.hpp).

#include <schedmate/accounting.hpp>
#include <span>
#include <string>
#include <vector>

#include "settings/session.hpp"
#include "slurm/scheduled_job.hpp"

namespace schedmate::service {

/// The jobs of a dump by their first submission.
[[nodiscard]] std::vector<slurm::ScheduledJob> accounted_jobs(const AccountingDump& dump);

/// A sentence on the jobs whose summary of use could not be read, "" = there is none.
[[nodiscard]] std::string unread_words(std::span<const slurm::ScheduledJob> jobs);

/// The jobs that `sacct` selects by these flags. Errors: as run_tool() and read_accounting().
[[nodiscard]] Result<std::vector<slurm::ScheduledJob>> ask_sacct(
    const settings::Session& session, const std::vector<std::string>& flags);

/// What `scontrol show job` knows of a job that waits, runs or has ended a short while ago. Errors:
/// as run_tool(); bad_reply.
[[nodiscard]] Result<slurm::ScheduledJob> ask_scontrol(const settings::Session& session,
                                                       const std::string& id);
/// The same of a text that it printed.
[[nodiscard]] Result<slurm::ScheduledJob> read_shown_job(std::string_view text);

}  // namespace schedmate::service
