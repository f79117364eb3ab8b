// SPDX-License-Identifier: Apache-2.0

/// `schedmate job`: one job on one screen.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/command.hpp"
#include "screen/job_text.hpp"
#include "screen/screen.hpp"
#include "service/job.hpp"

namespace schedmate {
namespace {

Result<int> print_job(const CommandCall& call, const std::string& subject) {
  const auto view = service::look_at_job(call.session, subject);
  if (!view) return tl::unexpected(view.error());
  if (call.json)
    call.console.json(service::job_document(*view));
  else
    call.console.text(screen::job_text(*view, screen::screen_style(call.session.environment)));
  return 0;
}

}  // namespace

Command job_command(const Parser& parser) {
  const auto subject = std::make_shared<std::string>();
  parser.app.add_option("subject", *subject, "job id, log file, or directory of the job")
      ->type_name("ID|LOG|DIR");
  parser.app.footer(
      "What is known of the job comes from the history, from sacct and scontrol where they are\n"
      "installed, and from its log.\n\nExamples:\n  schedmate job 17\n"
      "  schedmate job slurm-17.out --json");
  return {[subject](const CommandCall& call) { return print_job(call, *subject); },
          [subject] { return need(!subject->empty(), "job", "ID, LOG or DIR"); }};
}

}  // namespace schedmate
