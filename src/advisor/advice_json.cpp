// SPDX-License-Identifier: Apache-2.0

/// `schedmate.advice.v1` (docs/formats/advice.md).

#include <cmath>
#include <nlohmann/json.hpp>
#include <schedmate/advice.hpp>

#include "advisor/record_json.hpp"
#include "base/document.hpp"
#include "base/json.hpp"
#include "core/facts_json.hpp"

namespace schedmate {
namespace {

using nlohmann::ordered_json;

/// Milliseconds are finer than any estimate.
ordered_json seconds(FractionalSeconds duration) {
  constexpr double per_second = 1000;
  return std::round(duration.count() * per_second) / per_second;
}

ordered_json duration_of(const Estimate& estimate) {
  if (estimate.source == AdviceSource::none) return nullptr;
  return {{"mean", seconds(estimate.mean)},
          {"p10", seconds(estimate.p10)},
          {"p50", seconds(estimate.p50)},
          {"p90", seconds(estimate.p90)}};
}

ordered_json similar_of(const Advice& advice) {
  ordered_json list = ordered_json::array();
  for (const SimilarJob& each : advice.similar) {
    list.push_back({{"job_id", each.id.empty() ? ordered_json(nullptr) : ordered_json(each.id)},
                    {"score", each.score},
                    {"why", each.why},
                    {"duration_s", each.duration.count()},
                    {"state", advisor::state_word(each.state)}});
  }
  return list;
}

ordered_json changes_of(const Advice& advice) {
  ordered_json list = ordered_json::array();
  for (const FactChange& each : advice.changes)
    list.push_back({{"field", each.field}, {"before", each.before}, {"now", each.now}});
  return list;
}

ordered_json failure_of(const Advice& advice) {
  if (!advice.earlier_failure) return nullptr;
  const EarlierFailure& failure = *advice.earlier_failure;
  return {{"job_id", failure.job_id},
          {"class", failure.verdict},
          {"reason", failure.reason},
          {"fingerprint", failure.fingerprint},
          {"seen", failure.seen}};
}

}  // namespace

std::string advice_json(const Advice& advice) {
  const Estimate& estimate = advice.estimate;
  ordered_json notes = advice.notes;
  for (const std::string& note : estimate.notes) notes.push_back(note);
  const ordered_json document = {
      {"schema", "schedmate.advice.v1"},
      {"source", name_of(estimate.source)},
      {"duration_s", duration_of(estimate)},
      {"gpu_util_pct", or_null<nlohmann::ordered_json>(estimate.gpu_util_pct)},
      {"gpu_memory_mib", or_null<nlohmann::ordered_json>(estimate.gpu_memory_mib)},
      {"early_end", estimate.source == AdviceSource::none ? ordered_json(nullptr)
                                                          : ordered_json(estimate.early_end)},
      {"estimate", advice.estimator},
      {"runs", estimate.runs},
      {"admission", advice.rule},
      {"similar", similar_of(advice)},
      {"similar_threshold", advice.similar_threshold},
      {"previous", advice.previous.empty() ? ordered_json(nullptr) : ordered_json(advice.previous)},
      {"changes", changes_of(advice)},
      {"earlier_failure", failure_of(advice)},
      {"facts_remembered", advice.facts_remembered},
      {"notes", notes},
      {"facts", facts_document(advice.facts)},
  };
  return indented(document);
}

}  // namespace schedmate
