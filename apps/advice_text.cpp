// SPDX-License-Identifier: Apache-2.0
#include "apps/advice_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "advisor/record_json.hpp"
#include "advisor/run_answer.hpp"
#include "apps/facts_text.hpp"
#include "base/words.hpp"

namespace schedmate {
namespace {

std::string words(FractionalSeconds duration) {
  return in_words(Seconds(std::llround(duration.count())));
}

std::string length_text(const RunAnswer& answer) {
  if (!answer.known()) return fmt::format("duration: not known: {}\n", why_not_known(answer));
  return fmt::format("duration: {} if it completes, 80 % between {} and {} (mean {})\n",
                     words(answer.p50), words(answer.p10), words(answer.p90), words(answer.mean));
}

std::string early_end_text(const RunAnswer& answer) {
  if (answer.runs_by_state.empty()) return "";
  return fmt::format("may fail or be cancelled before: {:.0f} %\n", 100 * answer.early_end);
}

std::string limit_text(const RunAnswer& answer) {
  if (!answer.time_limit) return "";
  const TimeLimit& limit = *answer.time_limit;
  std::string text = fmt::format(
      "time limit: --time={}, {} {:.2g} % risk that a run that would complete is killed",
      advisor::slurm_time(limit.suggested), limit.longest ? "the longest allowed:" : "at most",
      100 * limit.risk);
  constexpr double wide = 10;  // times the usual length
  if (FractionalSeconds(limit.suggested) > wide * answer.p50)
    text += "; wide, because few runs like it are known";
  if (limit.asked_risk)
    text += fmt::format("; under the limit asked for: {:.2g} %", 100 * *limit.asked_risk);
  return text + "\n";
}

std::string estimate_text(const Advice& advice) {
  const Estimate& estimate = advice.estimate;
  const RunAnswer& answer = advice.answer;
  std::string text = length_text(answer) + early_end_text(answer) + limit_text(answer);
  for (const std::string& help : advice.would_help) text += fmt::format("would help: {}\n", help);
  if (const auto runs = advisor::runs_in_words(answer.runs_by_state); !runs.empty())
    text += fmt::format("from: {}, past runs: {}; estimate {}\n", name_of(source_of(advice)), runs,
                        advice.estimator);
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
