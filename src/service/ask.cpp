// SPDX-License-Identifier: Apache-2.0
#include "service/ask.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/words.hpp"
#include "log/failure/log_fault.hpp"
#include "secrets/outgoing.hpp"
#include "service/file_access.hpp"
#include "service/held_input.hpp"
#include "service/log_summary.hpp"
#include "settings/state_folder.hpp"

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
std::optional<double> silent_for(const settings::Session& session, const ForeignPath& log) {
  const auto mark = ask::mark_of(log);
  if (!mark) return std::nullopt;
  if (!session.clock.wall) return std::nullopt;
  const auto now = static_cast<double>(seconds_of(session.clock.wall()));
  const double silent = now - static_cast<double>(mark->mtime_ns) / 1e9;
  return silent >= 0 ? std::optional(silent) : std::nullopt;
}

/// What comes through a pipe is not kept, since it will not come again.
Result<ask::LogIndex> index_of(const settings::Session& session, const ForeignPath& log,
                               bool is_held, const secrets::LogRedactor& secrets) {
  const ask::IndexCleaner cleaner{[&](std::string_view text) { secrets.learn(text); },
                                  [&](std::string_view text) { return secrets.text(text); }};
  if (is_held) return ask::index_log(log, cleaner);
  // Without a folder nothing is kept; one that others may write is another matter.
  if (auto state = settings::make_state_folder(session); !state) {
    if (state.error().code == ErrorCode::refused) return tl::unexpected(state.error());
    return ask::index_log(log, cleaner);
  }
  return ask::cached_index(log, log_index_folder(session), cleaner);
}

}  // namespace

bool AskAnswer::answered() const { return std::ranges::any_of(answers, &ask::LogAnswer::answered); }

Result<AskAnswer> ask(const settings::Session& session, const AskRequest& request) {
  const auto models = open_models(session, "");
  if (!models) return tl::unexpected(models.error());
  const auto files = request_files(session);
  if (!files) return tl::unexpected(files.error());
  const auto held = HeldInput::open(request.subject);
  if (!held) return tl::unexpected(held.error());
  auto found = held->is_held() ? Result<LogOfJob>(LogOfJob{held->path(), std::nullopt, ""})
                               : find_log(session, {request.subject, files->access});
  if (!found) return tl::unexpected(found.error());
  if (!request.job.empty()) {
    auto job = read_job_file({request.job, files->access});
    if (!job) return tl::unexpected(job.error());
    found->job = *std::move(job);
  }
  const ForeignPath log(found->path, as_owner(files->access, found->user));
  const auto fault = failure::fault_of_log(log);
  if (!fault) return fail(fault.error().code, held->named(fault.error().message));
  if (!fault->empty())
    return fail(ErrorCode::invalid,
                fmt::format("{}: {}; there is nothing to ask", held->named(log.name), *fault));
  const secrets::LogRedactor secrets({log.name}, log.access);
  const auto index = index_of(session, log, held->is_held(), secrets);
  if (!index) return fail(index.error().code, held->named(index.error().message));
  const ask::LogKnowledge knowledge{
      *index,
      [&]() -> std::optional<Progress> {
        auto progress =
            schedmate::track(log.name, {session.settings.text("rules"), {}, log.access});
        if (!progress) return std::nullopt;
        return *std::move(progress);
      },
      [&]() -> std::optional<Diagnosis> {
        DiagnoseInput input;
        input.paths = {log.name};
        input.access = log.access;
        input.job = found->job;
        input.rules = session.settings.text("rules");
        input.clean = [&](auto text) { return secrets.line(text); };
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
    each.question = secrets.line(each.question);
    each.text = secrets.line(held->named(each.text));
    for (ask::IndexedLine& line : each.lines) line.text = secrets.line(line.text);
  }
  secrets::make_safe(made.model.notes);
  made.left_out = *files->left_out;
  if (!held->note().empty()) made.left_out.push_back(held->note());
  made.notes = made.left_out;
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
  add_left_out(answer.left_out, document);
  return document;
}

}  // namespace schedmate::service
