// SPDX-License-Identifier: Apache-2.0
#include "workload/vocabulary.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "base/check.hpp"
#include "core/facts_json.hpp"

namespace schedmate::workload {
namespace {

constexpr std::int32_t gpus_per_node = 8;

constexpr std::size_t index_of(FieldId field) { return static_cast<std::size_t>(field); }

/// Design 4.2: small < 100 M <= medium <= 1 B < large.
std::string scale_of(double params_m) {
  if (params_m < 100) return "small";
  return params_m <= 1000 ? "medium" : "large";
}

}  // namespace

std::uint16_t ValueNumbers::add(FieldId field, FactValue value) {
  std::vector<FactValue>& values = values_[index_of(field)];
  auto& index = index_[index_of(field)];
  const std::string text = value_text(value);
  if (const auto found = index.find(text); found != index.end()) return found->second;
  if (values.size() == std::numeric_limits<std::uint16_t>::max()) return 0;
  values.push_back(std::move(value));
  return index[text] = static_cast<std::uint16_t>(values.size());
}

Vocabulary::Vocabulary(const Recipe& recipe, const Trace& trace) {
  not_distributed_ = numbers_.add(FieldId::distributed, std::string("none"));
  for (const RecipeModel& model : recipe.models) add_model(model);
  std::set<std::int32_t> counts;
  for (const Job& job : trace.jobs) counts.insert(job.gpus);
  for (const std::int32_t gpus : counts) {
    const std::int64_t nodes = (std::int64_t{gpus} + gpus_per_node - 1) / gpus_per_node;
    gpus_[gpus] = {numbers_.add(FieldId::gpus, std::int64_t{gpus}),
                   numbers_.add(FieldId::nodes, nodes)};
  }
}

void Vocabulary::add_model(const RecipeModel& model) {
  ModelCodes codes;
  const auto fix = [&](FieldId field, FactValue value) {
    codes.fixed[index_of(field)] = numbers_.add(field, std::move(value));
  };
  fix(FieldId::model_name, model.name);
  fix(FieldId::model_family, model.family);
  fix(FieldId::model_type, model.type);
  fix(FieldId::task_type, model.task_type);
  fix(FieldId::task, model.task);
  fix(FieldId::dataset, model.dataset);
  fix(FieldId::framework, model.framework);
  fix(FieldId::params_scale, scale_of(model.params_m));
  fix(FieldId::pretrained, model.pretrained);
  if (model.sequence_length > 0) fix(FieldId::sequence_length, model.sequence_length);
  if (!model.resolution.empty()) fix(FieldId::resolution, model.resolution);
  codes.distributed = numbers_.add(FieldId::distributed, model.distributed);
  for (const int batch : model.batch)
    codes.batch.push_back(numbers_.add(FieldId::batch_size, std::int64_t{batch}));
  for (const std::string& each : model.precision)
    codes.precision.push_back(numbers_.add(FieldId::precision, each));
  for (const std::string& each : model.optimizer)
    codes.optimizer.push_back(numbers_.add(FieldId::optimizer, each));
  for (const double rate : model.learning_rate)
    codes.learning_rate.push_back(numbers_.add(FieldId::learning_rate, rate));
  for (const double amount : model.length)
    codes.length.push_back(numbers_.add(FieldId::length, Length{amount, model.length_unit}));
  models_.push_back(std::move(codes));
}

FactCodes Vocabulary::codes(const DrawnModel& drawn, std::int32_t gpus) const {
  const ModelCodes& model = models_[drawn.model];
  FactCodes codes = model.fixed;
  codes[index_of(FieldId::distributed)] = gpus > 1 ? model.distributed : not_distributed_;
  codes[index_of(FieldId::batch_size)] = model.batch[drawn.batch];
  codes[index_of(FieldId::precision)] = model.precision[drawn.precision];
  codes[index_of(FieldId::optimizer)] = model.optimizer[drawn.optimizer];
  codes[index_of(FieldId::learning_rate)] = model.learning_rate[drawn.learning_rate];
  codes[index_of(FieldId::length)] = model.length[drawn.length];
  if (const auto found = gpus_.find(gpus); found != gpus_.end()) {
    codes[index_of(FieldId::gpus)] = found->second.first;
    codes[index_of(FieldId::nodes)] = found->second.second;
  }
  return codes;
}

}  // namespace schedmate::workload
