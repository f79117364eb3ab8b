// SPDX-License-Identifier: Apache-2.0

/// `schedmate job`: one job on one screen.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/daemon_call.hpp"
#include "screen/job_text.hpp"
#include "screen/live_jobs_text.hpp"
#include "screen/screen.hpp"
#include "service/job.hpp"

namespace schedmate {
namespace {

Result<int> print_live_job(const CommandCall& call, const client::WhichDaemon& which,
                           const Document& job) {
  return show(call, job, [&](const Document& document, const screen::ScreenStyle& style) {
    const auto daemon = client::daemon_of(call.session, which);
    return screen::live_job_text(document, daemon ? cluster_now(*daemon) : std::nullopt, style);
  });
}

struct JobFlags {
  std::string subject;
  client::WhichDaemon which;
};

Result<int> print_job(const CommandCall& call, const JobFlags& flags) {
  const auto known = job_of_daemon(call, flags.which, flags.subject);
  if (!known) return tl::unexpected(known.error());
  if (known->document) return print_live_job(call, flags.which, *known->document);
  const auto view = service::look_at_job(call.session, flags.subject);
  if (!view) return tl::unexpected(behind(*known, view.error()));
  if (call.json)
    call.console.json(service::job_document(*view));
  else
    call.console.text(screen::job_text(*view, screen::screen_style(call.session.environment)));
  return 0;
}

}  // namespace

Command job_command(const Parser& parser) {
  const auto flags = std::make_shared<JobFlags>();
  parser.app.add_option("subject", flags->subject, "job id, log file, or directory of the job")
      ->type_name("ID|LOG|DIR");
  add_optional_daemon(parser.app, flags->which);
  parser.app.footer(
      "Where a daemon runs that knows the id, its answer is shown. Else\n"
      "what is known of the job comes from the history, from sacct and scontrol where they are\n"
      "installed, and from its log.\n\nExamples:\n  schedmate job 17\n"
      "  schedmate job slurm-17.out --json");
  return {[flags](const CommandCall& call) { return print_job(call, *flags); },
          [flags] { return need(!flags->subject.empty(), "job", "ID, LOG or DIR"); }};
}

}  // namespace schedmate
