// SPDX-License-Identifier: Apache-2.0

/// `schedmate ask LOG|JOB "QUESTION"`: what a log says, in words and lines.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/daemon_call.hpp"
#include "client/known_job.hpp"
#include "log/ask/ask.hpp"
#include "screen/answers_text.hpp"
#include "screen/fields.hpp"
#include "service/ask.hpp"

namespace schedmate {
namespace {

struct AskFlags {
  service::AskRequest request;
  client::WhichDaemon which;
};

Result<service::AskAnswer> answer_of_daemon(const Document& job, const std::string& question) {
  auto progress = client::progress_of(job);
  auto diagnosis = client::diagnosis_of(job);
  if (!progress && !diagnosis)
    return fail(ErrorCode::invalid,
                fmt::format("the daemon knows neither progress nor a diagnosis of job {}{}; give "
                            "its log instead of its id",
                            screen::word(job, "id"), not_read(job)));
  const ask::LogIndex no_lines;
  service::AskAnswer made;
  made.answers =
      ask::answer(question, {no_lines, [&] { return progress; }, [&] { return diagnosis; }});
  made.notes = {"the daemon's figures alone; give the log for its lines"};
  return made;
}

Result<service::AskAnswer> answer(const CommandCall& call, const AskFlags& flags) {
  if (!flags.request.job.empty()) return service::ask(call.session, flags.request);
  const auto job = job_of_daemon(call, flags.which, flags.request.subject);
  if (!job) return tl::unexpected(job.error());
  if (job->document) return answer_of_daemon(*job->document, flags.request.question);
  return service::ask(call.session, flags.request).map_error([&](const Error& error) {
    return behind(*job, error);
  });
}

Result<int> print_answers(const CommandCall& call, const AskFlags& flags) {
  const auto answers = answer(call, flags);
  if (!answers) return tl::unexpected(answers.error());
  if (call.json)
    call.console.json(service::ask_document(*answers));
  else
    call.console.text(screen::answers_text(*answers));
  return answers->answered() ? 0 : 1;
}

}  // namespace

Command ask_command(const Parser& parser) {
  const auto flags = std::make_shared<AskFlags>();
  service::AskRequest* const request = &flags->request;
  CLI::App& command = parser.app;
  command
      .add_option("subject", request->subject,
                  "log file, - for a pipe, or a job id, of a daemon or the history")
      ->type_name("LOG|JOB");
  command.add_option("question", request->question, "one or more questions, separated by '?'")
      ->type_name("QUESTION");
  command.add_option("--job", request->job, "what the scheduler knows about the job (JSON)")
      ->type_name("FILE");
  add_model(parser);
  add_optional_daemon(command, flags->which);
  command.footer(
      "Example:\n  schedmate ask slurm-17.out \"how fast is it? did it save? why did it stop?\"");
  return {[flags](const CommandCall& call) { return print_answers(call, *flags); },
          [flags]() -> Result<void> {
            if (!flags->request.question.empty()) return {};
            return fail(
                ErrorCode::unsupported,
                "ask: LOG and QUESTION are required (schedmate ask LOG \"how fast is it?\")");
          }};
}

}  // namespace schedmate
