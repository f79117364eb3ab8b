// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/facts.hpp>

#include "service/job_request.hpp"
#include "service/models.hpp"

namespace schedmate::service {

/// What a job is, each value with the line that proves it; with models for the gaps where the
/// settings choose some. Facts that are less sure than `least` (0 to 1, or "auto"; "" = none) are
/// unknown. Errors: those of extract_facts, open_models and run_sources.
[[nodiscard]] Result<Facts> read_facts(const settings::Session& session, const JobRequest& request,
                                       const std::string& least = "");

/// `rules`: an operator's folder of rules, "" = none. Errors: those of confidence_bound() and
/// load_fact_rules().
[[nodiscard]] Result<Facts> without_doubtful(Facts facts, const std::string& least,
                                             const std::string& rules);

/// Answers with less confidence become unknown and are kept as rejected.
void cut_below(double least, Facts& facts);

/// Lets the models fill what `facts` leaves open, in a confined process that asks this one for each
/// request. What a server does wrong takes nothing from the facts: it is a line of `degraded`.
[[nodiscard]] Facts with_model_facts(Facts facts, const JobSource& job, const RunSources& sources,
                                     const Models& models);

}  // namespace schedmate::service
