// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What `schedmate simulate` prints.

#include <string>

#include "lab/elastic_summary.hpp"
#include "lab/simulate.hpp"

namespace schedmate::screen {

/// What was read: rows kept and dropped and why, and the cluster.
[[nodiscard]] std::string reading_text(const Experiment& experiment);
/// Table, explanations, warnings, path of the report; in a terminal of so many columns, 0: none.
[[nodiscard]] std::string simulation_text(const lab::Simulation& simulation, std::size_t columns);
/// The figures of each elastic policy.
[[nodiscard]] std::string elastic_text(const lab::ElasticSummary& summary, std::size_t columns);

}  // namespace schedmate::screen
