// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/facts.hpp>

#include "service/job_request.hpp"
#include "service/models.hpp"

namespace schedmate::service {

/// Lets the models fill what `facts` leaves open, in a confined process that asks this one for each
/// request. What a server does wrong takes nothing from the facts: it is a line of `degraded`.
[[nodiscard]] Facts with_model_facts(Facts facts, const JobSource& job, const RunSources& sources,
                                     const Models& models);

}  // namespace schedmate::service
