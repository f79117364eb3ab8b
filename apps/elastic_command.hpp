// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `schedmate simulate --trace sia:FILE`: elastic policies on mixed GPU types
/// (docs/formats/elastic.md).

#include <schedmate/result.hpp>
#include <span>
#include <string_view>

#include "study/policy_spec.hpp"
#include "apps/simulate_command.hpp"
#include "settings/session.hpp"

namespace schedmate {

/// Whether the trace is one of jobs that may be resized.
[[nodiscard]] bool is_elastic(std::string_view trace);

/// Refuses policies that only resize jobs, for traces of plain ones.
[[nodiscard]] Result<void> check_not_elastic(std::span<const PolicySpec> policies);

/// Runs every policy over `elastic.perturbations` ways to break ties, writes LABEL.jobs.csv of the
/// first and summary.json, and prints means with their 95 % intervals. Errors: as simulate_command.
[[nodiscard]] Result<void> elastic_command(const Session& session, const SimulateRequest& request);

}  // namespace schedmate
