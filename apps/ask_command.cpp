// SPDX-License-Identifier: Apache-2.0

/// `schedmate ask LOG|JOB "QUESTION"`: what a log says, in words and lines.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/command.hpp"
#include "screen/answers_text.hpp"
#include "service/ask.hpp"

namespace schedmate {
namespace {

Result<int> print_answers(const CommandCall& call, const service::AskRequest& request) {
  const auto answer = service::ask(call.session, request);
  if (!answer) return tl::unexpected(answer.error());
  if (call.json)
    call.console.json(service::ask_document(*answer));
  else
    call.console.text(screen::answers_text(*answer));
  return answer->answered() ? 0 : 1;
}

}  // namespace

Command ask_command(const Parser& parser) {
  const auto request = std::make_shared<service::AskRequest>();
  CLI::App& command = parser.app;
  command
      .add_option("subject", request->subject,
                  "log file, - for a pipe, or a job id from the history")
      ->type_name("LOG|JOB");
  command.add_option("question", request->question, "one or more questions, separated by '?'")
      ->type_name("QUESTION");
  command.add_option("--job", request->job, "what the scheduler knows about the job (JSON)")
      ->type_name("FILE");
  add_model(parser);
  command.footer(
      "Example:\n  schedmate ask slurm-17.out \"how fast is it? did it save? why did it stop?\"");
  return {[request](const CommandCall& call) { return print_answers(call, *request); },
          [request]() -> Result<void> {
            if (!request->question.empty()) return {};
            return fail(
                ErrorCode::unsupported,
                "ask: LOG and QUESTION are required (schedmate ask LOG \"how fast is it?\")");
          }};
}

}  // namespace schedmate
