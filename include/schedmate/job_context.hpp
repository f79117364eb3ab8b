// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The job behind the logs.

#include <map>
#include <optional>
#include <schedmate/result.hpp>
#include <schedmate/time.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate {

/// The job behind the logs (docs/formats/job.md).
struct JobContext {
  std::string job_id, user, state, exit_code, start, end;
  std::vector<std::string> nodes;
  std::map<int, std::string> ranks;  ///< rank -> node
};

/// Errors: invalid (not such a file), those of reading.
[[nodiscard]] Result<JobContext> read_job_file(const std::string& path);
/// The same of a text; `place` stands before what is wrong.
[[nodiscard]] Result<JobContext> read_job_text(const std::string& place, std::string_view text);
/// When it ended, by `end`; a time without zone is taken as UTC.
[[nodiscard]] std::optional<SimTime> end_of(const JobContext& job);

}  // namespace schedmate
