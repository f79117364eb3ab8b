// SPDX-License-Identifier: Apache-2.0

/// `schedmate.advice.v1` (docs/formats/advice.md).

#include <nlohmann/json.hpp>
#include <schedmate/advice.hpp>

#include "advisor/advice_document.hpp"
#include "advisor/record_json.hpp"
#include "advisor/run_answer.hpp"
#include "base/json.hpp"
#include "core/facts_json.hpp"

namespace schedmate {
namespace {

using nlohmann::ordered_json;

/// No estimate is known better than to a thousandth, no share better than to a hundredth.
constexpr int digits_of_duration = 4;
constexpr int digits_of_share = 3;

double seconds(FractionalSeconds duration) {
  return as_known(duration.count(), digits_of_duration);
}

double share(double value) { return as_known(value, digits_of_share); }

ordered_json share_or_null(const std::optional<double>& value) {
  return as_known_or_null<ordered_json>(value, digits_of_share);
}

/// Of an Estimate or a RunAnswer.
ordered_json figures_of(bool known, const auto& of) {
  if (!known) return nullptr;
  return {{"mean", seconds(of.mean)},
          {"p10", seconds(of.p10)},
          {"p50", seconds(of.p50)},
          {"p90", seconds(of.p90)}};
}

ordered_json runs_by_state(const RunAnswer& answer) {
  ordered_json runs = ordered_json::object();
  for (const EndState state : known_end_states) {
    const auto found = answer.runs_by_state.find(state);
    runs[advisor::state_word(state)] = found == answer.runs_by_state.end() ? 0 : found->second;
  }
  return runs;
}

ordered_json time_limit_of(const RunAnswer& answer) {
  if (!answer.time_limit) return nullptr;
  const TimeLimit& limit = *answer.time_limit;
  return {{"suggested_s", limit.suggested.count()},
          {"slurm", advisor::slurm_time(limit.suggested)},
          {"risk", share(limit.risk)},
          {"risk_of", "a run that would complete is killed"},
          {"longest_allowed", limit.longest},
          {"asked_risk", share_or_null(limit.asked_risk)}};
}

ordered_json similar_of(const Advice& advice) {
  ordered_json list = ordered_json::array();
  for (const SimilarJob& each : advice.similar) {
    list.push_back({{"job_id", each.id.empty() ? ordered_json(nullptr) : ordered_json(each.id)},
                    {"score", share(each.score)},
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

Document advisor::advice_document(const Advice& advice) {
  const Estimate& estimate = advice.estimate;
  const RunAnswer& answer = advice.answer;
  ordered_json notes = advice.notes;
  for (const std::string& note : estimate.notes) notes.push_back(note);
  return {
      {"schema", "schedmate.advice.v1"},
      {"source", name_of(source_of(advice))},
      {"known", answer.known()},
      {"not_known", answer.known() ? ordered_json(nullptr) : ordered_json(why_not_known(answer))},
      {"would_help", advice.would_help},
      {"duration_s", figures_of(answer.known(), answer)},
      {"time_limit", time_limit_of(answer)},
      {"runs_by_state", runs_by_state(answer)},
      {"held_s", figures_of(estimate.source != AdviceSource::none, estimate)},
      {"gpu_util_pct", share_or_null(estimate.gpu_util_pct)},
      {"gpu_memory_mib", as_known_or_null<ordered_json>(estimate.gpu_memory_mib)},
      {"early_end", share_or_null(answer.early_end)},
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
}

std::string advice_json(const Advice& advice) { return indented(advisor::advice_document(advice)); }

}  // namespace schedmate
