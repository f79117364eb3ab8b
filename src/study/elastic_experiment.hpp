// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Experiments on elastic jobs: those whose traces are sia:FILE (docs/formats/experiment.md).

#include <vector>

#include "study/evaluate_runs.hpp"

namespace schedmate::study {

/// Errors: invalid when it has elastic traces and others.
[[nodiscard]] Result<bool> is_elastic_experiment(const ExperimentFile& experiment);

/// Whether an elastic run reads the setting.
[[nodiscard]] bool decides_elastic_rows(std::string_view key);

/// What its rows depend on beside the program: SHA-256 (hex) of the command, the experiment's text,
/// the unusual settings, and every file. Errors: of reading them.
[[nodiscard]] Result<std::string> elastic_fingerprint(const settings::Settings& settings,
                                                      const ExperimentFile& experiment,
                                                      const std::string& command);

/// Every arm under each perturbation (run_elastic) on each trace, and, where there are several, of
/// all their jobs together as trace "all"; `counts` as in run_experiment. Errors: of reading the
/// files and of the runs.
[[nodiscard]] Result<std::vector<FigureRows>> run_elastic_experiment(
    const EvaluationInput& input, std::span<const std::size_t> counts);

}  // namespace schedmate::study
