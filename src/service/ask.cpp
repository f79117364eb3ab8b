// SPDX-License-Identifier: Apache-2.0
#include "service/ask.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/words.hpp"
#include "log/failure/log_fault.hpp"
#include "service/held_input.hpp"
#include "service/log_summary.hpp"
#include "service/redaction.hpp"

namespace schedmate::service {
namespace {

Document json_of(const ask::LogAnswer& answer) {
  Document json = {{"question", answer.question},
                   {"answer", answer.text.empty() ? Document(nullptr) : Document(answer.text)},
                   {"by", answer.by},
                   {"answered", answer.answered},
                   {"lines", Document::array()}};
  for (const ask::IndexedLine& line : answer.lines)
    json["lines"].push_back({{"line", line.number}, {"text", line.text}});
  return json;
}

/// Seconds since the log was last written to.
std::optional<double> silent_for(const settings::Session& session, const std::string& log) {
  const auto mark = ask::mark_of(log);
  if (!mark) return std::nullopt;
  if (!session.clock.wall) return std::nullopt;
  const auto now = static_cast<double>(seconds_of(session.clock.wall()));
  const double silent = now - static_cast<double>(mark->mtime_ns) / 1e9;
  return silent >= 0 ? std::optional(silent) : std::nullopt;
}

}  // namespace

bool AskAnswer::answered() const { return std::ranges::any_of(answers, &ask::LogAnswer::answered); }

Result<AskAnswer> ask(const settings::Session& session, const AskRequest& request) {
  const auto models = open_models(session, "");
  if (!models) return tl::unexpected(models.error());
  const auto held = HeldInput::open(request.subject);
  if (!held) return tl::unexpected(held.error());
  auto found = held->is_held() ? Result<LogOfJob>(LogOfJob{held->path(), std::nullopt})
                               : find_log(session, request.subject);
  if (!found) return tl::unexpected(found.error());
  if (!request.job.empty()) {
    auto job = read_job_file(request.job);
    if (!job) return tl::unexpected(job.error());
    found->job = *std::move(job);
  }
  const std::string& log = found->path;
  const auto fault = failure::fault_of_log(log);
  if (!fault) return fail(fault.error().code, held->named(fault.error().message));
  if (!fault->empty())
    return fail(ErrorCode::invalid, fmt::format("{}: {}; there is nothing to ask",
                                                printable(held->named(log)), *fault));
  const auto index = held->is_held() ? ask::index_log(log)
                                     : ask::cached_index(log, session.state_dir() + "/log-index");
  if (!index) return fail(index.error().code, held->named(index.error().message));
  const ask::LogKnowledge knowledge{
      *index,
      [&]() -> std::optional<Progress> {
        auto progress = schedmate::track(log, {session.settings.text("rules")});
        if (!progress) return std::nullopt;
        return *std::move(progress);
      },
      [&]() -> std::optional<Diagnosis> {
        DiagnoseInput input;
        input.paths = {log};
        input.job = found->job;
        input.rules = session.settings.text("rules");
        auto made = schedmate::diagnose(input);
        if (!made) return std::nullopt;
        return *std::move(made);
      },
      found->job, held->is_held() ? std::nullopt : silent_for(session, log)};
  AskAnswer made;
  made.answers = ask::answer(request.question, knowledge);
  const auto nodes = found->job ? found->job->nodes : std::vector<std::string>();
  made.model = answer_by_model(made.answers, *index, nodes, *models);
  for (ask::LogAnswer& each : made.answers) {
    each.text = held->named(each.text);
    for (ask::IndexedLine& line : each.lines) line.text = safe_line(line.text);
  }
  if (!held->note().empty()) made.notes.push_back(held->note());
  made.calls = models->meter ? models->meter->sums().calls : 0;
  return made;
}

Document ask_document(const AskAnswer& answer) {
  Document document = {{"schema", "schedmate.answers.v1"}, {"answers", Document::array()}};
  for (const ask::LogAnswer& each : answer.answers) document["answers"].push_back(json_of(each));
  document["model"] = {{"calls", answer.calls},
                       {"accepted", answer.model.accepted},
                       {"dropped", answer.model.dropped},
                       {"notes", answer.model.notes}};
  document["notes"] = answer.notes;
  return document;
}

}  // namespace schedmate::service
