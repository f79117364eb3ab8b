// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The job behind the logs, as the scheduler that ran it reports: its allocation, its times, how it
/// ended (docs/formats/job.md). A diagnosis names a node only when the job had it.

#include <map>
#include <optional>
#include <schedmate/file_access.hpp>
#include <schedmate/result.hpp>
#include <schedmate/time.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate {

/// "" and empty = not given. Times stay as they were printed.
struct JobContext {
  std::string job_id, user, state, exit_code, start, end;
  /// Host names; with and without a domain they are the same node.
  std::vector<std::string> nodes;
  /// Rank -> one of `nodes`.
  std::map<int, std::string> ranks;
};

/// Errors: invalid (not such a file), those of reading; files above 16 MiB are refused.
[[nodiscard]] Result<JobContext> read_job_file(const ForeignPath& path);
/// The same of a text; `place` stands before what is wrong.
[[nodiscard]] Result<JobContext> read_job_text(const std::string& place, std::string_view text);
/// When it ended, by `end`. A time without zone counts as UTC. Empty: nobody said, or it is no
/// time.
[[nodiscard]] std::optional<SimTime> end_of(const JobContext& job);

}  // namespace schedmate
