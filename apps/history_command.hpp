// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `schedmate history ACTION`: the store of past jobs.

#include <optional>

#include "apps/job_request.hpp"
#include "apps/session.hpp"

namespace schedmate {

struct HistoryRequest {
  std::string action;    ///< add, finish, import, list, show, forget, calibration, export
  std::string subject;   ///< job id, or FORMAT:PATH of import
  JobRequest job;        ///< of add; root "" = not known
  std::string job_file;  ///< of finish: what the scheduler knows, "" = none
  std::string user, branch, vc, state, facts;
  std::int64_t submit_s = -1;  ///< Unix time; -1 = now
  std::optional<std::int64_t> duration_s;
  std::optional<double> gpu_util_pct, gpu_memory_mib;
  std::int64_t limit = 20;  ///< of list
};

/// Errors: unsupported (unknown action, a flag is missing), not_found (no such job), refused (other
/// users' jobs, by one who does not own the state directory), those of the store.
[[nodiscard]] Result<void> history_command(const Session& session, const HistoryRequest& request);

/// "add", "finish", ...
[[nodiscard]] std::vector<std::string> history_actions();

}  // namespace schedmate
