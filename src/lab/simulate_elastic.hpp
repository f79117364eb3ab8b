// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lab/elastic_summary.hpp"
#include "lab/simulate.hpp"

namespace schedmate::lab {

struct ElasticSimulation {
  ElasticSummary summary;
  std::string report;  ///< path, "" = none written
};

/// Runs every policy over a trace "sia:FILE" of elastic jobs on mixed GPU types
/// (docs/formats/elastic.md), ties broken in `elastic.perturbations` ways, and writes
/// OUT/LABEL.jobs.csv of the first of them, OUT/summary.json and, unless the setting `report` is
/// none, OUT/report.html. Errors: as simulate(); unsupported for what only plain jobs have.
[[nodiscard]] Result<ElasticSimulation> simulate_elastic(const settings::Session& session,
                                                         const SimulateRequest& request);

}  // namespace schedmate::lab
