// SPDX-License-Identifier: Apache-2.0
#include "daemon/past_job.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <schedmate/estimator.hpp>
#include <string>
#include <utility>

#include "advisor/run_answer.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "daemon/findings.hpp"
#include "daemon/parts.hpp"
#include "service/advisor_state.hpp"

namespace schedmate::daemon {
namespace {

/// Of a GivenAdvice or a GivenLength.
Document figures_of(const auto& given) {
  return {{"p10", as_known(given.p10.count())},
          {"p50", as_known(given.p50.count())},
          {"p90", as_known(given.p90.count())}};
}

Document text_or_null(const std::string& text) {
  return text.empty() ? Document(nullptr) : Document(text);
}

/// {"progress": ..., "diagnosis": ...}; null: its log was not read.
Document log_summary_of(const JobRecord& record) {
  if (!record.outcome) return nullptr;
  return Document::parse(record.outcome->log_summary, nullptr, false);
}

std::vector<NodeGpus> nodes_in(const std::string& list) {
  std::vector<NodeGpus> nodes;
  for (const auto& name : split(list, ','))
    if (!name.empty()) nodes.push_back({std::string(name), {}});
  return nodes;
}

std::int32_t gpus_of(const JobRecord& record) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(record.gpus, 0, INT32_MAX));
}

live::Attempt attempt_of(const JobRecord& record) {
  live::Attempt attempt;
  SeenJob& seen = attempt.seen;
  seen.id = record.id;
  seen.submitted = record.submit;
  seen.name = record.name;
  seen.user = record.user;
  seen.partition = record.vc;
  seen.dir = record.root;
  seen.command = record.command;
  seen.output = record.log;
  seen.gpus = gpus_of(record);
  seen.limit = record.time_limit.value_or(Seconds(0));
  seen.phase = JobPhase::ended;
  if (!record.outcome) return attempt;
  seen.end_state = record.outcome->state;
  seen.started = record.outcome->start;
  seen.ended = record.outcome->end;
  for (const Attempt& each : record.outcome->attempts)
    attempt.past.push_back(
        {std::ssize(attempt.past), each.start, each.end, each.state, nodes_in(each.nodes)});
  if (attempt.past.empty()) return attempt;
  const std::string& exit = record.outcome->attempts.back().exit_code;  // "code:signal"
  const std::size_t colon = std::min(exit.find(':'), exit.size());
  seen.exit_code = parse_number<std::int32_t>(exit.substr(0, colon)).value_or(0);
  if (colon < exit.size())
    seen.exit_signal = parse_number<std::int32_t>(exit.substr(colon + 1)).value_or(0);
  seen.restarts = attempt.past.back().restarts;
  seen.nodes = std::move(attempt.past.back().nodes);
  attempt.past.pop_back();
  return attempt;
}

live::Life life_of(const JobRecord& record) {
  live::Life life;
  const Document summary = log_summary_of(record);
  if (const Document& progress = part(summary, "progress"); progress.is_object()) {
    life.log = log_found(progress);
    life.looked = record.outcome->end;
  }
  if (const Document& diagnosis = part(summary, "diagnosis"); diagnosis.is_object())
    life.cause = cause_found(diagnosis);
  if (record.outcome && record.outcome->start)
    for (const ProgressPoint& each : record.outcome->progress)
      life.points.push_back({*record.outcome->start + each.since_start, each.step, each.loss});
  return life;
}

/// At most so many of them, evenly.
Document series_of(const std::vector<ProgressPoint>& points) {
  constexpr std::size_t most = 60;
  Document series = Document::array();
  const std::size_t count = std::min(points.size(), most);
  for (std::size_t i = 0; i < count; ++i) {
    const ProgressPoint& each = points[count == 1 ? 0 : i * (points.size() - 1) / (count - 1)];
    series.push_back({{"since_start_s", each.since_start.count()}, {"step", each.step}});
  }
  return series;
}

}  // namespace

Document advice_document(const GivenAdvice& advice) {
  const bool expects = advice.source != name_of(AdviceSource::none);
  Document made{{"source", advice.source},
                {"held_s", expects ? figures_of(advice) : Document(nullptr)}};
  if (!advice.length) return made;
  const GivenLength& length = *advice.length;
  if (length.source != name_of(AdviceSource::none)) made["source"] = length.source;
  made["known"] = length.told;
  made["not_known"] = text_or_null(length.not_known);
  made["duration_s"] = length.told ? figures_of(length) : Document(nullptr);
  made["time_limit"] = nullptr;
  if (length.told && length.limit > Seconds(0))
    made["time_limit"] = {{"suggested_s", length.limit.count()},
                          {"slurm", advisor::slurm_time(length.limit)},
                          {"risk", as_known(length.risk)}};
  made["early_end"] = as_known_or_null<Document>(length.early_end);
  made["runs_by_state"] = Document::object();
  for (const auto& [state, runs] : length.runs_by_state)
    made["runs_by_state"][lower_case(to_string(state))] = runs;
  return made;
}

Document neighbour_document(const Neighbour& neighbour, const JobRecord& run) {
  Document made{{"job_id", run.id},       {"score", as_known(neighbour.score)},
                {"why", neighbour.why},   {"gpus", run.gpus},
                {"duration_s", nullptr},  {"state", nullptr},
                {"step_time_s", nullptr}, {"series", Document::array()}};
  if (!run.outcome) return made;
  made["duration_s"] = run.outcome->duration.count();
  made["state"] = lower_case(to_string(run.outcome->state));
  const live::LogFound log = log_found(part(log_summary_of(run), "progress"));
  made["step_time_s"] = as_known_or_null<Document>(log.step_time_s);
  made["series"] = series_of(run.outcome->progress);
  return made;
}

Result<std::vector<SeenJob>> past_runs(Store& store, SimTime now, std::size_t most) {
  std::vector<SeenJob> runs;
  const JobFilter filter{.finished = true, .limit = most, .brief = true};
  const auto read = store.each(filter, [&](const JobRecord& record) {
    const Outcome& outcome = *record.outcome;
    if (!outcome.start || !outcome.end || *outcome.end > now || record.submit > *outcome.start)
      return true;
    SeenJob& run = runs.emplace_back();
    run.id = record.id;
    run.user = record.user;
    run.partition = record.vc;
    run.gpus = gpus_of(record);
    run.submitted = record.submit;
    run.phase = JobPhase::ended;
    run.end_state = outcome.state;
    run.started = outcome.start;
    run.ended = outcome.end;
    return true;
  });
  if (!read) return tl::unexpected(read.error());
  std::ranges::stable_sort(runs, {}, &SeenJob::ended);
  return runs;
}

std::vector<SeenJob> past_runs(const settings::Session& session, SimTime now, std::size_t most) {
  const auto history = service::find_history(session);
  if (!history || !*history) return {};
  auto runs = past_runs(*(*history)->store, now, most);
  return runs ? *std::move(runs) : std::vector<SeenJob>();
}

Document past_job_document(const JobRecord& record) {
  const live::Life life = life_of(record);
  Document made = whole_document(attempt_of(record), &life);
  if (record.advice) made["advice"] = advice_document(*record.advice);
  if (record.outcome && (record.outcome->gpu_util_pct || record.outcome->gpu_memory_mib))
    made["use"] = {{"gpu_pct_mean", as_known_or_null<Document>(record.outcome->gpu_util_pct)},
                   {"memory_mib_max", as_known_or_null<Document>(record.outcome->gpu_memory_mib)}};
  return made;
}

}  // namespace schedmate::daemon
