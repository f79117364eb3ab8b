// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What `schedmate simulate` prints.

#include <string>

#include "service/elastic_summary.hpp"
#include "service/simulate.hpp"

namespace schedmate::screen {

/// What was read: rows kept and dropped and why, and the cluster.
[[nodiscard]] std::string reading_text(const Experiment& experiment);
/// Table, explanations, warnings, path of the report; in a terminal of so many columns, 0: none.
[[nodiscard]] std::string simulation_text(const service::Simulation& simulation,
                                          std::size_t columns);
/// The figures of each elastic policy.
[[nodiscard]] std::string elastic_text(const service::ElasticSummary& summary, std::size_t columns);

}  // namespace schedmate::screen
