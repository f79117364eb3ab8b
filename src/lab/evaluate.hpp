// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "evaluation_report/figure_rows.hpp"
#include "settings/session.hpp"
#include "study/experiment_csv.hpp"

namespace schedmate::lab {

struct EvaluateRequest {
  std::vector<std::string> files;  ///< experiments, TOML
  std::vector<std::string> cited;  ///< experiments that the reports show as they were run before
  std::string out;                 ///< folder of the CSVs, made where it is absent
  std::string report;              ///< Markdown file; "" = none
  std::string shard;               ///< "K/N", of evaluate_shard()
};

struct ExperimentDone {
  std::string csv;                  ///< path
  std::optional<std::size_t> rows;  ///< none: it was there already
};

/// An experiment that is shown as it was run, and why its inputs cannot be read here.
struct AbsentInputs {
  std::string experiment, reason;
};

struct Evaluation {
  std::vector<study::ExperimentFile> experiments;    ///< those that were run, then the cited ones
  std::vector<evaluation_report::Chapter> chapters;  ///< of the first; their CSVs from here
  std::vector<AbsentInputs> absent;                  ///< among those that are cited
  std::string page;                                  ///< path of the HTML page
};

/// Runs what is not there yet (of earlier code with a sample: the sample first, and only where it
/// comes out otherwise all), writes OUT/EXPERIMENT.csv, then OUT/evaluation.html and the report
/// with a folder of pages. `ran` is called after each experiment. Errors: of the experiments'
/// files, before anything runs; of running them; unavailable.
[[nodiscard]] Result<Evaluation> evaluate(const settings::Session& session,
                                          const EvaluateRequest& request,
                                          const std::function<void(const ExperimentDone&)>& ran);

/// What became of one experiment's runs.
struct ShardMade {
  std::string csv;  ///< path
  study::ShardDone done;
};

/// Makes the runs of one shard of each of request.files and keeps them under OUT, for evaluate() to
/// take; no CSV and no report. `ran` is called after each experiment. Errors: as evaluate();
/// unsupported where reports are asked for, or the shard is none.
[[nodiscard]] Result<std::vector<ShardMade>> evaluate_shard(
    const settings::Session& session, const EvaluateRequest& request,
    const std::function<void(const ShardMade&)>& ran);

}  // namespace schedmate::lab
