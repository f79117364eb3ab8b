// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What `schedmate simulate` prints.

#include <string>

#include "service/elastic_summary.hpp"
#include "service/simulate.hpp"

namespace schedmate {

/// What was read: rows kept and dropped and why, and the cluster.
[[nodiscard]] std::string reading_text(const Experiment& experiment);
/// Table, explanations, warnings, path of the report.
[[nodiscard]] std::string simulation_text(const service::Simulation& simulation);
/// The figures of each elastic policy.
[[nodiscard]] std::string elastic_text(const service::ElasticSummary& summary);

}  // namespace schedmate
