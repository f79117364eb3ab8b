// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/facts.hpp>

#include "service/job_request.hpp"

namespace schedmate::service {

/// What a job is, each value with the line that proves it; with models for the gaps where the
/// settings choose some. Errors: those of extract_facts, open_models and run_sources.
[[nodiscard]] Result<Facts> read_facts(const settings::Session& session, const JobRequest& request);

}  // namespace schedmate::service
