// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/facts.hpp>

#include "service/job_request.hpp"
#include "service/models.hpp"

namespace schedmate::service {

/// What a job is, each value with the line that proves it; with models for the gaps where the
/// settings choose some. Errors: those of extract_facts, open_models and run_sources.
[[nodiscard]] Result<Facts> read_facts(const settings::Session& session, const JobRequest& request);

/// Lets the models fill what `facts` leaves open, in a confined process that asks this one for each
/// request. What a server does wrong takes nothing from the facts: it is a line of `degraded`.
[[nodiscard]] Facts with_model_facts(Facts facts, const JobSource& job, const RunSources& sources,
                                     const Models& models);

}  // namespace schedmate::service
