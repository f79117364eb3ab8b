// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `schedmate diagnose`: why a job ended, with the line that says so.

#include <string>
#include <vector>

#include "apps/session.hpp"

namespace schedmate {

struct DiagnoseRequest {
  std::vector<std::string> logs;
  std::string job, good;
  std::string locate = "scan", classify = "rules";
};

/// Errors: those of diagnose() and read_job_file(), for the exit code.
[[nodiscard]] Result<void> diagnose_command(const Session& session, const DiagnoseRequest& request);

}  // namespace schedmate
