// SPDX-License-Identifier: Apache-2.0
#include "apps/advice_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "advisor/record_json.hpp"
#include "apps/facts_text.hpp"
#include "base/words.hpp"

namespace schedmate {
namespace {

std::string words(FractionalSeconds duration) {
  return in_words(Seconds(std::llround(duration.count())));
}

std::string estimate_text(const Advice& advice) {
  const Estimate& estimate = advice.estimate;
  if (estimate.source == AdviceSource::none) return "duration: unknown (no past job to go by)\n";
  std::string text =
      fmt::format("duration: {}, 80 % between {} and {} (mean {})\n", words(estimate.p50),
                  words(estimate.p10), words(estimate.p90), words(estimate.mean));
  text += fmt::format("from: {}, {} past job{}, estimate {}\n", name_of(estimate.source),
                      estimate.runs, estimate.runs == 1 ? "" : "s", advice.estimator);
  if (estimate.early_end > 0)
    text += fmt::format("may end early: {:.0f} %\n", 100 * estimate.early_end);
  if (estimate.gpu_util_pct)
    text += fmt::format("GPU utilisation: {:.0f} %\n", *estimate.gpu_util_pct);
  if (estimate.gpu_memory_mib)
    text += fmt::format("GPU memory: {:.0f} MiB\n", *estimate.gpu_memory_mib);
  return text;
}

std::string similar_text(const Advice& advice) {
  if (advice.similar.empty()) return "";
  std::vector<std::vector<std::string>> rows{{"  job", "score", "ran", "end", "why"}};
  for (const SimilarJob& each : advice.similar) {
    rows.push_back({"  " + (each.id.empty() ? "(other user)" : printable(each.id)),
                    fmt::format("{:.2f}", each.score), in_words(each.duration),
                    advisor::state_word(each.state), printable(each.why)});
  }
  return "\nsimilar jobs\n" + aligned(rows);
}

std::string changes_text(const Advice& advice) {
  if (advice.previous.empty()) return "";
  if (advice.changes.empty())
    return fmt::format("\nno fact changed since job {}\n", printable(advice.previous));
  std::vector<std::vector<std::string>> rows;
  const auto shown = [](const std::string& value) {
    return value.empty() ? "?" : printable(value);
  };
  for (const FactChange& each : advice.changes)
    rows.push_back({"  " + each.field, shown(each.before) + " -> " + shown(each.now)});
  return fmt::format("\nnew since job {}\n", printable(advice.previous)) + aligned(rows);
}

std::string failure_text(const Advice& advice) {
  if (!advice.earlier_failure) return "";
  const EarlierFailure& failure = *advice.earlier_failure;
  return printable(fmt::format("earlier submission {} failed: {}, {} (seen {} time{})",
                               failure.job_id, failure.verdict, failure.reason, failure.seen,
                               failure.seen == 1 ? "" : "s")) +
         "\n";
}

}  // namespace

std::string advice_text(const Advice& advice) {
  std::string text = estimate_text(advice);
  text += fmt::format("admission: {}\n", printable(advice.rule));
  text += failure_text(advice) + similar_text(advice) + changes_text(advice);
  for (const auto* notes : {&advice.estimate.notes, &advice.notes})
    for (const std::string& note : *notes) text += "note: " + printable(note) + "\n";
  text += fmt::format("\nfacts{}\n", advice.facts_remembered ? " (remembered)" : "");
  return text + facts_text(advice.facts, false);
}

}  // namespace schedmate
