// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `schedmate facts`: what a job is, each value with the line that proves it.

#include "apps/job_request.hpp"
#include "apps/session.hpp"

namespace schedmate {

struct FactsRequest {
  JobRequest job;
  bool explain = false;
};

/// Errors: those of extract_facts, for the exit code.
[[nodiscard]] Result<void> facts_command(const Session& session, const FactsRequest& request);

}  // namespace schedmate
