// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Facts as numbers: which values a field can have, and the number of each.

#include <map>
#include <schedmate/workload.hpp>
#include <string>

namespace schedmate::workload {

/// Places in workload_fields.
enum class FieldId : std::uint8_t {
  model_name,
  model_family,
  model_type,
  task_type,
  task,
  dataset,
  framework,
  distributed,
  batch_size,
  length,
  precision,
  optimizer,
  learning_rate,
  params_scale,
  pretrained,
  sequence_length,
  resolution,
  gpus,
  nodes,
};
static_assert(workload_fields[static_cast<std::size_t>(FieldId::nodes)] == "nodes");
static_assert(workload_fields[static_cast<std::size_t>(FieldId::learning_rate)] == "learning_rate");

/// What was drawn of a model: places in its lists.
struct DrawnModel {
  std::uint32_t model = 0;
  std::uint16_t batch = 0, precision = 0, optimizer = 0, learning_rate = 0, length = 0;
  bool operator==(const DrawnModel&) const = default;
};

/// Numbers for the values of each field, as they come: 1, 2, ... What has no room left has 0, as
/// if it were unknown.
class ValueNumbers {
 public:
  std::uint16_t add(FieldId field, FactValue value);
  [[nodiscard]] const FactVocabulary& values() const { return values_; }

 private:
  FactVocabulary values_;
  std::array<std::map<std::string, std::uint16_t>, workload_fields.size()> index_;
};

class Vocabulary {
 public:
  /// All values of the recipe, and the GPU and node counts of the trace's jobs.
  Vocabulary(const Recipe& recipe, const Trace& trace);

  /// The true facts of a job.
  [[nodiscard]] FactCodes codes(const DrawnModel& drawn, std::int32_t gpus) const;
  [[nodiscard]] std::size_t size(std::size_t field) const { return values()[field].size(); }
  [[nodiscard]] const FactVocabulary& values() const { return numbers_.values(); }

 private:
  void add_model(const RecipeModel& model);

  /// Codes of one model's values.
  struct ModelCodes {
    FactCodes fixed{};  ///< fields that no draw decides
    std::uint16_t distributed = 0;
    std::vector<std::uint16_t> batch, precision, optimizer, learning_rate, length;
  };
  ValueNumbers numbers_;
  std::vector<ModelCodes> models_;
  std::map<std::int32_t, std::pair<std::uint16_t, std::uint16_t>> gpus_;  ///< GPUs -> GPUs, nodes
  std::uint16_t not_distributed_ = 0;
};

}  // namespace schedmate::workload
