// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Carries out one experiment: every arm on every perturbation of every trace.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "settings/session.hpp"
#include "study/experiment_file.hpp"
#include "study/figures.hpp"
#include "study/kept_runs.hpp"

namespace schedmate::study {

struct EvaluationInput {
  const settings::Session& session;
  const ExperimentFile& experiment;
  std::string command;  ///< that makes the rows
  int threads = 1;      ///< perturbations at the same time; the rows are the same
  KeptRuns runs;
};

using FigureRows = std::vector<FigureRow>;

/// What the first `counts[i]` perturbations give, for each i: rows in the order of the experiment's
/// file (traces, points of the sweep, arms); no rows where runs are made elsewhere. Errors: of
/// reading traces and making policies.
[[nodiscard]] Result<std::vector<FigureRows>> run_experiment(const EvaluationInput& input,
                                                             std::span<const std::size_t> counts);

}  // namespace schedmate::study
