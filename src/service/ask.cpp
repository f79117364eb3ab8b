// SPDX-License-Identifier: Apache-2.0
#include "service/ask.hpp"

#include <nlohmann/json.hpp>

#include "service/file_access.hpp"
#include "service/log_summary.hpp"
#include "service/redaction.hpp"
#include "settings/state_folder.hpp"

namespace schedmate::service {
namespace {

Document json_of(const ask::LogAnswer& answer) {
  Document json = {{"question", answer.question},
                   {"answer", answer.text.empty() ? Document(nullptr) : Document(answer.text)},
                   {"by", answer.by},
                   {"lines", Document::array()}};
  for (const ask::IndexedLine& line : answer.lines)
    json["lines"].push_back({{"line", line.number}, {"text", line.text}});
  return json;
}

}  // namespace

Result<AskAnswer> ask(const settings::Session& session, const AskRequest& request) {
  const auto models = open_models(session, "");
  if (!models) return tl::unexpected(models.error());
  const auto files = request_files(session);
  if (!files) return tl::unexpected(files.error());
  const auto found = find_log(session, {request.subject, files->access});
  if (!found) return tl::unexpected(found.error());
  const ForeignPath log(found->path, as_owner(files->access, found->user));
  // Without a folder nothing is kept; one that others may write is another matter.
  if (auto state = settings::make_state_folder(session.state_dir());
      !state && state.error().code == ErrorCode::refused)
    return tl::unexpected(state.error());
  const LogRedactor secrets({log.name}, log.access);
  const auto index = ask::cached_index(log, log_index_folder(session),
                                       {[&](std::string_view text) { secrets.learn(text); },
                                        [&](std::string_view text) { return secrets.text(text); }});
  if (!index) return tl::unexpected(index.error());
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
      }};
  AskAnswer made;
  made.answers = ask::answer(request.question, knowledge);
  made.model = answer_by_model(made.answers, *index, *models);
  for (ask::LogAnswer& each : made.answers) {
    each.question = secrets.line(each.question);
    each.text = secrets.line(each.text);
    for (ask::IndexedLine& line : each.lines) line.text = secrets.line(line.text);
  }
  made.left_out = *files->left_out;
  for (const auto& sentence : made.left_out) made.model.notes.push_back(sentence);
  make_safe(made.model.notes);
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
  add_left_out(answer.left_out, document);
  return document;
}

}  // namespace schedmate::service
