// SPDX-License-Identifier: Apache-2.0
#include "screen/advice_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "advisor/record_json.hpp"
#include "advisor/run_answer.hpp"
#include "base/table.hpp"
#include "base/words.hpp"
#include "screen/facts_text.hpp"
#include "screen/screen.hpp"

namespace schedmate::screen {
namespace {

std::string words(FractionalSeconds duration) {
  return in_words(Seconds(std::llround(duration.count())));
}

std::string length_text(const RunAnswer& answer) {
  if (!answer.known()) return fmt::format("duration: not known: {}\n", why_not_known(answer));
  return fmt::format("duration: {} if it completes, 80 % between {} and {}\n", words(answer.p50),
                     words(answer.p10), words(answer.p90));
}

std::string early_end_text(const RunAnswer& answer) {
  if (!answer.early_end) return "";
  return fmt::format("chance to fail or be cancelled: {:.0f} %\n", 100 * *answer.early_end);
}

std::string limit_text(const RunAnswer& answer) {
  if (!answer.time_limit) return "";
  const TimeLimit& limit = *answer.time_limit;
  std::string text = fmt::format("time limit: {}", advisor::limit_in_words(limit));
  const double factor = FractionalSeconds(limit.suggested) / answer.centre;
  constexpr double wide = 10;
  if (factor > wide) text += fmt::format("; {:.0f} times the usual length", factor);
  if (limit.asked_risk)
    text += fmt::format("; under the limit asked for: {:.2g} %", 100 * *limit.asked_risk);
  return text + "\n";
}

std::string_view whose_runs(AdviceSource source) {
  switch (source) {
    case AdviceSource::resubmission:
      return "earlier runs of this job";
    case AdviceSource::similar:
      return "runs of jobs like it";
    case AdviceSource::user_history:
      return "the user's latest runs";
    case AdviceSource::none:
      break;
  }
  return "no run";
}

std::string estimate_text(const Advice& advice) {
  const Estimate& estimate = advice.estimate;
  const RunAnswer& answer = advice.answer;
  std::string text = length_text(answer) + early_end_text(answer) + limit_text(answer);
  for (const std::string& help : advice.would_help) text += fmt::format("would help: {}\n", help);
  if (const auto runs = advisor::runs_in_words(answer.runs_by_state); !runs.empty())
    text += fmt::format("from {}: {}\n", whose_runs(source_of(advice)), runs);
  if (estimate.gpu_util_pct)
    text += fmt::format("GPU utilisation: {:.0f} %\n", *estimate.gpu_util_pct);
  if (estimate.gpu_memory_mib)
    text += fmt::format("GPU memory: {}\n", mib_in_words(*estimate.gpu_memory_mib));
  return text;
}

/// "same_job: seed: 11 here, 9 there" as "same job; seed: 11 here, 9 there".
std::string rule_in_words(const std::string& rule) {
  const std::size_t colon = rule.find(": ");
  if (colon == std::string::npos) return printable(rule);
  return printable(fmt::format("{}; {}", spaced(rule.substr(0, colon)), rule.substr(colon + 2)));
}

std::string similar_text(const Advice& advice, std::size_t columns) {
  if (advice.similar.empty()) return "";
  std::vector<std::vector<Cell>> rows;
  for (const SimilarJob& each : advice.similar) {
    rows.push_back({"  " + (each.id.empty() ? "(other user)" : printable(each.id)),
                    fmt::format("{:.2f}", each.score), in_words(each.duration),
                    advisor::state_word(each.state), rule_in_words(each.why)});
  }
  const std::vector<TableColumn> names{
      {"  job"}, {"score", 1}, {"ran"}, {"end"}, {"why", 0, false, 12}};
  return "\nnearest past jobs\n" + table_text(names, rows, columns);
}

std::string changes_text(const Advice& advice) {
  if (advice.previous.empty() || advice.changes.empty()) return "";
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
  return printable(
             fmt::format("last run failed: {}: {} ({}{})", failure.job_id, failure.reason,
                         spaced(failure.verdict),
                         failure.seen > 1 ? fmt::format("; seen in {} jobs", failure.seen) : "")) +
         "\n";
}

}  // namespace

std::string advice_text(const Advice& advice, bool explain, std::size_t columns) {
  std::string text =
      styled(Style::bold, facts_line(advice.facts)) + "\n" + facts_doubts(advice.facts);
  text += estimate_text(advice);
  text += fmt::format("history: {}\n", rule_in_words(advice.rule));
  text += failure_text(advice) + similar_text(advice, columns) + changes_text(advice);
  for (const auto* notes : {&advice.estimate.notes, &advice.notes})
    for (const std::string& note : *notes) text += "note: " + printable(note) + "\n";
  if (!explain) return text;
  text +=
      fmt::format("\nestimate {}, facts {}\n", advice.estimator,
                  advice.facts_remembered ? "remembered: no file of theirs has changed" : "read");
  return text + facts_text(advice.facts, true, columns);
}

}  // namespace schedmate::screen
