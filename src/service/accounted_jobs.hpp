// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What Slurm says of jobs, as records of the history: from accounting dumps, and from its own
/// programs where they are installed (run_tool.hpp).

#include <schedmate/accounting.hpp>
#include <schedmate/job_record.hpp>
#include <span>
#include <string>
#include <vector>

#include "settings/session.hpp"

namespace schedmate::service {

/// A job, whether it has ended or not.
struct ScheduledJob {
  /// Without an outcome while it waits, runs, or is to start again. Commands are without secrets.
  JobRecord record;
  /// Each attempt that is known, oldest first; none while it waits for its first one.
  std::vector<Attempt> attempts;
  /// Slurm's word for its state now: "PENDING", "RUNNING", "COMPLETED".
  std::string word;
  std::string reason;  ///< why it waits
  /// When the scheduler means to start it, as it stands.
  std::optional<SimTime> planned_start{};
  std::string unread{};  ///< as AccountedJob::unread
};

/// The jobs of a dump by their first submission.
[[nodiscard]] std::vector<ScheduledJob> accounted_jobs(const AccountingDump& dump);

/// A sentence on the jobs whose summary of use could not be read, "" = there is none.
[[nodiscard]] std::string unread_words(std::span<const ScheduledJob> jobs);

/// Whether this is a job id of Slurm, "17", "12_3" or "17+1": nothing else is given to its
/// programs.
[[nodiscard]] bool is_slurm_id(std::string_view text);

/// The jobs that `sacct` selects by these flags. Errors: as run_tool() and read_accounting().
[[nodiscard]] Result<std::vector<ScheduledJob>> ask_sacct(const settings::Session& session,
                                                          const std::vector<std::string>& flags);

/// What `scontrol show job` knows of a job that waits, runs or has ended a short while ago. Errors:
/// as run_tool(); bad_reply.
[[nodiscard]] Result<ScheduledJob> ask_scontrol(const settings::Session& session,
                                                const std::string& id);
/// The same of a text that it printed.
[[nodiscard]] Result<ScheduledJob> read_shown_job(std::string_view text);

}  // namespace schedmate::service
