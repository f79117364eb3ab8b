// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/diagnosis.hpp>

#include "service/log_models.hpp"

namespace schedmate::service {

struct DiagnoseRequest {
  std::vector<std::string> logs;  ///< of one job: one, one for each rank, or a job of the history
  std::string job, good;
  std::vector<std::string> kernel_logs;  ///< FILE or NODE=FILE
  std::vector<std::string> readings;     ///< files of GPU states
  bool nvml = false;                     ///< ask this machine's GPUs
  std::string locate = "scan", classify = "rules";
  std::string min_confidence{};  ///< 0 to 1, or "auto"; "" = no cut
};

struct DiagnoseAnswer {
  Diagnosis diagnosis;
  std::vector<std::string> notes;     ///< on what the models said and what was left out
  std::vector<std::string> left_out;  ///< what the budget of a reading left out of the logs
  std::vector<std::string> warnings;  ///< what could not be asked, beside the models
  ModelCost cost;
};

/// Why a job ended, with the line that says so (paper 3.3). A history that cannot be read is a
/// warning. Errors: those of schedmate::diagnose(), read_job_file(), read_gpus_file() and
/// confidence_bound().
[[nodiscard]] Result<DiagnoseAnswer> diagnose(const settings::Session& session,
                                              const DiagnoseRequest& request);

/// schedmate.diagnosis.v1.
[[nodiscard]] Document diagnose_document(const DiagnoseAnswer& answer);

}  // namespace schedmate::service
