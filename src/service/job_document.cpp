// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "advisor/record_json.hpp"
#include "base/json.hpp"
#include "base/known_digits.hpp"
#include "log/failure/diagnosis_document.hpp"
#include "log/progress/progress_document.hpp"
#include "service/job.hpp"

namespace schedmate::service {
namespace {

Document seconds_or_null(const std::optional<SimTime>& time) {
  return time ? Document(seconds_of(*time)) : Document(nullptr);
}

Document length_or_null(const std::optional<Seconds>& length) {
  return length ? Document(length->count()) : Document(nullptr);
}

Document text_or_null(const std::string& text) {
  return text.empty() ? Document(nullptr) : Document(text);
}

Document use_document(const JobView& view) {
  const JobRecord& record = view.job.record;
  const JobUse& use = view.use;
  const auto* const outcome = record.outcome ? &*record.outcome : nullptr;
  return {
      {"limit_pct", or_null<Document>(use.limit_pct)},
      {"cpu_pct", or_null<Document>(use.cpu_pct)},
      {"cpu_time_s", outcome != nullptr && outcome->cpu_time ? Document(outcome->cpu_time->count())
                                                             : Document(nullptr)},
      {"memory_pct", or_null<Document>(use.memory_pct)},
      {"memory_mib",
       outcome != nullptr ? or_null<Document>(outcome->memory_mib) : Document(nullptr)},
      {"gpu_util_pct", or_null<Document>(use.gpu_util_pct)},
      {"gpu_memory_mib",
       outcome != nullptr ? or_null<Document>(outcome->gpu_memory_mib) : Document(nullptr)},
      {"gpu_memory_pct", or_null<Document>(use.gpu_memory_pct)},
      {"energy_j", outcome != nullptr ? or_null<Document>(outcome->energy_j) : Document(nullptr)},
      {"cpus_per_node", or_null<Document>(cpus_per_node(record))},
      {"gpu_hours", use.gpu_hours},
      {"idle_gpu_hours", or_null<Document>(use.idle_gpu_hours)},
      {"lost_gpu_hours", use.lost_gpu_hours}};
}

Document next_document(const JobView& view) {
  Document sizes = Document::array();
  for (const SizeAdvice& each : view.sizes)
    sizes.push_back({{"what", each.what}, {"flag", text_or_null(each.flag)}, {"why", each.why}});
  Document limit = nullptr;
  if (view.time_limit)
    limit = {{"seconds", view.time_limit->suggested.count()}, {"risk", view.time_limit->risk}};
  return {{"time_limit", std::move(limit)}, {"size", std::move(sizes)}};
}

Document earlier_document(const EarlierRuns& earlier) {
  return {{"runs", earlier.runs},
          {"completed", earlier.completed},
          {"shortest_s", length_or_null(earlier.shortest)},
          {"median_s", length_or_null(earlier.median)},
          {"longest_s", length_or_null(earlier.longest)},
          {"step_time_s", or_null<Document>(earlier.seconds_per_step)}};
}

}  // namespace

std::string what_to_do(const JobView& view) {
  const bool explained = view.diagnosis && view.diagnosis->verdict != FailureClass::none;
  const auto& outcome = view.job.record.outcome;
  if (explained || !outcome || end_word(view.job.record) == "deadline") return "";
  switch (outcome->state) {
    case EndState::timeout:
      return "ask for a longer --time, or save checkpoints and go on from the last one";
    case EndState::node_fail:
      return "submit it again: the node failed, not the program";
    case EndState::out_of_memory:
      return "ask for more memory (--mem), or use less";
    case EndState::preempted:
      return "submit it again, with --requeue to have that done";
    default:
      return "";
  }
}

Document job_document(const JobView& view) {
  Document document = advisor::record_document(view.job.record);
  document["state"] = text_or_null(view.state);
  document["reason"] = text_or_null(view.job.reason);
  document["now_s"] = seconds_of(view.now);
  document["planned_start_s"] = seconds_or_null(view.job.planned_start);
  document["started_s"] = seconds_or_null(view.started);
  document["ended_s"] = seconds_or_null(view.ended);
  document["ran_s"] = length_or_null(view.ran);
  document["attempts"] = advisor::attempts_document(view.job.attempts);
  document["log_file"] = text_or_null(view.log);
  document["log_written_s"] = seconds_or_null(view.log_written);
  document["progress"] =
      view.progress ? progress::progress_document(*view.progress) : Document(nullptr);
  document["diagnosis"] =
      view.diagnosis ? failure::diagnosis_document(*view.diagnosis) : Document(nullptr);
  document["earlier"] = earlier_document(view.earlier);
  document["eta"] = nullptr;
  if (view.expected) {
    document["eta"] = {{"end_s", seconds_of(view.expected->at)},
                       {"low_s", seconds_or_null(view.expected->low)},
                       {"high_s", seconds_or_null(view.expected->high)},
                       {"by", view.expected->by},
                       {"over_limit", view.expected->over_limit}};
  }
  document["use"] = use_document(view);
  for (const char* const part : {"earlier", "use"}) shorten_numbers(document[part]);
  document["next"] = next_document(view);
  document["next"]["do"] = text_or_null(what_to_do(view));
  document["sources"] = Document::array();
  for (const JobSourceState& each : view.sources)
    document["sources"].push_back({{"name", each.name}, {"gave", each.gave}, {"says", each.says}});
  document["notes"] = view.notes;
  return document;
}

}  // namespace schedmate::service
