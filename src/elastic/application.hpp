// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Applications with measured tables: which hardware they run on and how they learn
/// (docs/formats/elastic.md).

#include <map>
#include <optional>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "elastic/gpu_types.hpp"
#include "elastic/step_table.hpp"
#include "elastic/training.hpp"

namespace schedmate::elastic {

/// What the source code of an application would show, as docs/formats/facts.md has it; "" and 0: it
/// does not.
struct ApplicationModel {
  std::string name, family, type, task, task_type, dataset, framework, optimizer, precision;
  double params_m = 0, learning_rate = 0, epochs = 0;
};

/// What tables cannot say of an application.
struct ApplicationTraits {
  std::string name;
  double restart_s = 0;                                   ///< charged when it starts or moves
  double believed_restart_s = 0;                          ///< what a policy reckons with
  double slowdown = 1;                                    ///< divides all progress
  std::map<std::string, double, std::less<>> most_batch;  ///< atomic, by GPU type
  std::optional<ApplicationModel> model;
};
/// [[application]]. Errors: invalid, "FILE:LINE:COLUMN: what, and what is needed".
[[nodiscard]] Result<std::vector<ApplicationTraits>> parse_applications(std::string_view toml,
                                                                        const std::string& file);

/// The rows of a placements-TYPE.csv, one at least and one of a single GPU, and of a
/// scalability-TYPE.csv. Errors: invalid with file and line.
[[nodiscard]] Result<std::vector<MeasuredStep>> parse_placements(std::string_view csv,
                                                                 const std::string& file);
[[nodiscard]] Result<std::vector<MeasuredStep>> parse_scalability(std::string_view csv,
                                                                  const std::string& file);
/// A validation-BATCH.csv, one epoch at least. Errors: invalid with file and line.
[[nodiscard]] Result<TrainingRun> parse_training(std::string_view csv, const std::string& file,
                                                 double batch);

struct Application {
  ApplicationTraits traits;
  TrainingTable training;
  /// One for each type of the cluster; nothing where it was not measured.
  std::vector<std::optional<StepTable>> tables;

  [[nodiscard]] double least_batch(std::size_t type) const { return tables[type]->least_batch(); }
  [[nodiscard]] double most_batch(std::size_t type) const { return most_batch_of_type[type]; }
  std::vector<double> most_batch_of_type;  ///< atomic, with the caps of the traits
};

/// Reads FOLDER/NAME/placements-TYPE.csv, scalability-TYPE.csv (may be absent) and
/// validation-BATCH.csv. Errors: not_found when no type of the cluster was measured or no training
/// is there; invalid with file and line, and for a cap below all that was measured.
[[nodiscard]] Result<Application> read_application(const std::string& folder,
                                                   const ApplicationTraits& traits,
                                                   const ElasticCluster& cluster);

}  // namespace schedmate::elastic
