// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where a job's log is: the scheduler names it by a pattern.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slurm/scheduled_job.hpp"

namespace schedmate::slurm {

/// The file name that Slurm makes of a pattern of --output: %j, %A, %a, %x, %u, %N, %n, %t, %s, %%,
/// with a number as their width ("%4j"), relative to the job's folder. `number`: what %j is of a
/// task of an array, where it is known.
[[nodiscard]] std::string expand_log_pattern(std::string_view pattern, const ScheduledJob& job,
                                             std::string_view number = "");
/// The same where a log can be; "": it is no absolute path, or below /dev, /proc or /sys.
[[nodiscard]] std::string log_by_pattern(std::string_view pattern, const ScheduledJob& job,
                                         std::string_view number = "");

/// The regular file that the job's log is, by its pattern: what the scheduler or the record says,
/// --output of the submission, or slurm-ID.out in its folder. "" = none of them is there.
[[nodiscard]] std::string find_job_log(const ScheduledJob& job);

/// The newest log of a folder, by its name (slurm-*.out, *.out, *.log); "" = it has none.
[[nodiscard]] std::string newest_log_in(const std::string& folder);

/// "17" or "12_3" of ".../slurm-17.out", "" for other names.
[[nodiscard]] std::string id_in_log_name(std::string_view path);

/// When the file was last written to; empty: it is no regular file.
[[nodiscard]] std::optional<SimTime> written_at(const std::string& path);

}  // namespace schedmate::slurm
