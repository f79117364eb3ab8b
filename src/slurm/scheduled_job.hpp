// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A job as Slurm's accounting or its controller knows it.

#include <optional>
#include <schedmate/accounting.hpp>
#include <schedmate/job_record.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::slurm {

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

/// Whether this is a job id of Slurm, "17", "12_3" or "17+1": nothing else is given to its
/// programs.
[[nodiscard]] bool is_slurm_id(std::string_view text);

}  // namespace schedmate::slurm
