// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `schedmate advise`: admission, facts, similar jobs and estimate of a submission.

#include "apps/job_request.hpp"
#include "apps/session.hpp"

namespace schedmate {

struct AdviseRequest {
  JobRequest job;
  std::string user, branch, vc, id;
  std::int64_t time_limit_s = 0;  ///< 0 = none
  std::int64_t submit_s = -1;     ///< Unix time; -1 = now
  bool record = false;            ///< remember the submission
};

/// Errors: those of reading the job's tree and of the store, for the exit code.
[[nodiscard]] Result<void> advise_command(const Session& session, const AdviseRequest& request);

}  // namespace schedmate
