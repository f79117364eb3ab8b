// SPDX-License-Identifier: Apache-2.0
#include "log/progress/progress_document.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace schedmate {
namespace {

using Json = nlohmann::ordered_json;

Json number(const std::optional<double>& value) {
  if (!value || !std::isfinite(*value)) return nullptr;
  constexpr double exact = 9e15;
  if (*value == std::floor(*value) && std::abs(*value) < exact)
    return static_cast<std::int64_t>(*value);
  return *value;
}

}  // namespace

Document progress::progress_document(const Progress& progress) {
  Document json;
  json["schema"] = "schedmate.progress.v1";
  json["step"] = number(progress.step);
  json["total_steps"] = number(progress.total_steps);
  json["epoch"] = number(progress.epoch);
  json["total_epochs"] = number(progress.total_epochs);
  json["step_time_s"] = number(progress.step_time_s);
  json["recent_step_time_s"] = number(progress.recent_step_time_s);
  json["loss"] = number(progress.loss);
  json["throughput"] = nullptr;
  if (progress.throughput)
    json["throughput"] = {{"value", number(progress.throughput->value)},
                          {"unit", progress.throughput->unit}};
  json["remaining_s"] = number(progress.remaining_s);
  json["remaining_by"] = nullptr;
  if (!progress.remaining_by.empty()) json["remaining_by"] = progress.remaining_by;
  json["confidence"] = Json::object();
  for (const auto& [field, probability] : progress.confidence)
    json["confidence"][field] = probability;
  json["lines"] = progress.lines;
  json["evidence"] = progress.evidence;
  json["by"] = progress.by;
  json["by_model"] = progress.by_model;
  json["unread"] = progress.unread;
  return json;
}

std::string progress_json(const Progress& progress) {
  return in_one_line(progress::progress_document(progress));
}

}  // namespace schedmate
