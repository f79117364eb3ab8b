// SPDX-License-Identifier: Apache-2.0
#include "log/failure/diagnosis_document.hpp"

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "log/witness/gpus_file.hpp"

namespace schedmate {
namespace {

using Json = nlohmann::ordered_json;

Json seen_of(const std::optional<EarlierOccurrences>& seen) {
  if (!seen) return nullptr;
  return {{"jobs", seen->jobs},
          {"users", seen->users},
          {"first_s", seconds_of(seen->first)},
          {"last_s", seconds_of(seen->last)},
          {"nodes", seen->nodes},
          {"job_ids", seen->job_ids}};
}

Json events_of(const Witness& witness) {
  Json list = Json::array();
  for (const WitnessEvent& each : witness.events)
    list.push_back({{"node", each.node.empty() ? Json(nullptr) : Json(each.node)},
                    {"time", each.when.empty() ? Json(nullptr) : Json(each.when)},
                    {"rule", each.rule},
                    {"text", each.text}});
  return list;
}

}  // namespace

Document failure::diagnosis_document(const Diagnosis& diagnosis) {
  const auto optional_text = [](const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
  };
  Document document = {{"schema", "schedmate.diagnosis.v1"}};
  document["class"] =
      diagnosis.judged && !diagnosis.unsure ? Json(name_of(diagnosis.verdict)) : Json(nullptr);
  document["component"] =
      diagnosis.component == Component::none ? Json(nullptr) : Json(name_of(diagnosis.component));
  document["root_file"] = optional_text(diagnosis.root_file);
  document["root_line"] = or_null<Json>(diagnosis.root_line);
  document["root_confidence"] =
      or_null<Json>(diagnosis.root_line ? std::optional(diagnosis.root_confidence) : std::nullopt);
  document["first_error_line"] = or_null<Json>(diagnosis.first_error_line);
  document["reason"] = diagnosis.reason;
  document["evidence"] = Json::array();
  for (const LogEvidence& each : diagnosis.evidence)
    document["evidence"].push_back({{"file", each.file},
                                    {"line", each.line},
                                    {"text", each.text},
                                    {"role", name_of(each.role)},
                                    {"count", each.count}});
  document["nodes"] = diagnosis.nodes;
  document["recommendation"] = name_of(diagnosis.recommendation);
  document["advice"] = diagnosis.advice;
  document["confidence"] = diagnosis.confidence;
  document["witness"] = Json::array();
  for (const Witness& each : diagnosis.witnesses)
    document["witness"].push_back({{"name", each.name},
                                   {"asked", each.asked},
                                   {"agrees", or_null<Json>(each.agrees)},
                                   {"says", each.says},
                                   {"events", events_of(each)}});
  document["nvml"] = Json::array();
  for (const GpuReading& each : diagnosis.gpus)
    document["nvml"].push_back(witness::gpus_document(each));
  document["fingerprint"] = optional_text(diagnosis.fingerprint);
  document["seen"] = seen_of(diagnosis.seen);
  document["new_since_good"] = Json::array();
  for (const LogEvidence& each : diagnosis.unseen)
    document["new_since_good"].push_back(
        {{"file", each.file}, {"line", each.line}, {"text", each.text}, {"count", each.count}});
  document["by"] = diagnosis.by;
  document["unread"] = diagnosis.unread;
  return document;
}

std::string diagnosis_json(const Diagnosis& diagnosis) {
  return indented(failure::diagnosis_document(diagnosis)) + "\n";
}

}  // namespace schedmate
