// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One experiment of the evaluation report, as its TOML file says it (docs/formats/experiment.md).

#include <cstdint>
#include <map>
#include <optional>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "settings/settings.hpp"

namespace schedmate::study {

struct ExperimentTrace {
  std::string name;
  std::string spec;     ///< "FORMAT:PATH"; "" = bundled or drawn
  std::string cluster;  ///< TOML file; "" = the trace's own
  std::string like;     ///< of generate --like; "" = not drawn
  std::int64_t jobs = 0, gpus = 0, seed = 1;
  double days = 30;
};

struct ExperimentArm {
  std::string label, policy;
  std::string host;  ///< label of the arm that it is compared with; "" = the experiment's
  std::map<std::string, std::string> settings;  ///< beside the experiment's
};

struct ExperimentFile {
  std::string name;  ///< of the file, without .toml
  std::string path, text;
  std::string title, claim;
  std::vector<std::string> published;
  bool estimates = false;  ///< arms are estimators, and figures are their errors
  std::int64_t perturbations = 20;
  double warm_up_days = 3;
  std::map<std::string, std::string> settings;
  std::vector<ExperimentTrace> traces;
  std::vector<ExperimentArm> arms;  ///< the first is the host; standard arms are in here already
  std::string sweep;                ///< a setting, or "" when {at} in a policy is replaced
  std::vector<std::string> points;  ///< of the sweep; one "" when there is none
};

/// Errors: invalid, "FILE:LINE:COLUMN: what, and what is needed"; as of read_file.
[[nodiscard]] Result<ExperimentFile> read_experiment(const std::string& path);

/// `base` with what the experiment and one arm set, at one point of the sweep.
[[nodiscard]] Result<settings::Settings> settings_of(const settings::Settings& base,
                                                     const ExperimentFile& experiment,
                                                     const ExperimentArm& arm,
                                                     const std::string& point);
/// The arm's policy at one point of the sweep.
[[nodiscard]] std::string policy_at(const ExperimentArm& arm, const std::string& point);

}  // namespace schedmate::study
