// SPDX-License-Identifier: Apache-2.0
#include "apps/ask_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "service/ask_model.hpp"
#include "apps/command.hpp"
#include "service/log_summary.hpp"
#include "base/words.hpp"
#include "tree/redact.hpp"

namespace schedmate {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const LogAnswer& answer) {
  Json json = {{"question", answer.question},
               {"answer", answer.text.empty() ? Json(nullptr) : Json(answer.text)},
               {"by", answer.by},
               {"lines", Json::array()}};
  for (const KeptLine& line : answer.lines)
    json["lines"].push_back({{"line", line.number}, {"text", line.text}});
  return json;
}

void print_text(const std::vector<LogAnswer>& answers, const ModelAnswers& model) {
  for (const LogAnswer& answer : answers) {
    fmt::print("{}?\n  {}\n", printable(answer.question),
               answer.text.empty() ? "these lines fit best:" : printable(answer.text));
    std::vector<std::vector<std::string>> rows;
    for (const KeptLine& line : answer.lines)
      rows.push_back({fmt::format("  {}", line.number), line.text});
    fmt::print("{}", aligned(rows));
  }
  for (const auto& note : model.notes) fmt::print("note: {}\n", printable(note));
}

void print_json(const std::vector<LogAnswer>& answers, const ModelAnswers& model,
                const Models& models) {
  Json json = {{"schema", "schedmate.answers.v1"}, {"answers", Json::array()}};
  for (const LogAnswer& answer : answers) json["answers"].push_back(json_of(answer));
  json["model"] = {{"calls", models.meter ? models.meter->sums().calls : 0},
                   {"accepted", model.accepted},
                   {"dropped", model.dropped},
                   {"notes", model.notes}};
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

Result<void> run_ask(const Session& session, const AskRequest& request) {
  const auto models = open_models(session, "");
  if (!models) return tl::unexpected(models.error());
  const auto found = find_log(session, request.subject);
  if (!found) return tl::unexpected(found.error());
  const std::string& log = found->path;
  const auto index = kept_index(log, session.state_dir() + "/log-index");
  if (!index) return tl::unexpected(index.error());
  const LogKnowledge knowledge{*index,
                               [&]() -> std::optional<Progress> {
                                 auto progress = track(log, {session.settings.text("rules")});
                                 if (!progress) return std::nullopt;
                                 return *std::move(progress);
                               },
                               [&]() -> std::optional<Diagnosis> {
                                 DiagnoseInput input;
                                 input.paths = {log};
                                 input.job = found->job;
                                 input.rules = session.settings.text("rules");
                                 auto made = diagnose(input);
                                 if (!made) return std::nullopt;
                                 return *std::move(made);
                               }};
  auto answers = answer(request.question, knowledge);
  const auto model = answer_by_model(answers, *index, *models);
  for (LogAnswer& each : answers)
    for (KeptLine& line : each.lines) line.text = printable(redact(line.text));
  if (session.json)
    print_json(answers, model, *models);
  else
    print_text(answers, model);
  return {};
}

Command ask_command(const Parser& parser) {
  const auto request = std::make_shared<AskRequest>();
  CLI::App& command = parser.app;
  command.add_option("subject", request->subject, "a log, or a job of the history")
      ->type_name("LOG|JOB");
  command.add_option("question", request->question, "one or several, with '?' between")
      ->type_name("QUESTION");
  add_model(parser);
  command.footer(
      "Example:\n  schedmate ask slurm-17.out \"how fast is it? did it save? why did it stop?\"");
  return {[request](const Call& call) { return done(run_ask(call.session, *request)); },
          [request] {
            if (!request->question.empty()) return Result<void>();
            return Result<void>(
                fail(ErrorCode::unsupported,
                     "ask: which log, and what? (schedmate ask LOG \"how fast is it?\")"));
          }};
}

}  // namespace schedmate
