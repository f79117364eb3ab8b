// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `schedmate diagnose`: why a job ended, with the line that says so.

#include <string>
#include <vector>

#include "settings/session.hpp"

namespace schedmate {

struct DiagnoseRequest {
  std::vector<std::string> logs;
  std::string job, good;
  std::vector<std::string> kernel_logs;  ///< FILE or NODE=FILE
  std::vector<std::string> readings;     ///< files of GPU states
  bool nvml = false;                     ///< ask this machine's GPUs
  std::string locate = "scan", classify = "rules";
};

/// Errors: those of diagnose(), read_job_file() and read_gpus_file(), for the exit code.
[[nodiscard]] Result<void> run_diagnose(const Session& session, const DiagnoseRequest& request);

}  // namespace schedmate
