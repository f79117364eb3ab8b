// SPDX-License-Identifier: Apache-2.0

/// `schedmate advise`: admission, facts, similar jobs and estimate of a submission.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "apps/daemon_call.hpp"
#include "apps/flag_values.hpp"
#include "apps/job_flags.hpp"
#include "screen/advice_text.hpp"
#include "screen/live_jobs_text.hpp"
#include "service/advise.hpp"

namespace schedmate {
namespace {

struct AdviseFlags {
  service::AdviseRequest request;
  bool explain = false;
  client::WhichDaemon which;

  /// An id alone, which a daemon may know.
  [[nodiscard]] bool is_of_job() const {
    return request.job.command.empty() && request.user.empty() &&
           (!which.address.empty() || client::may_be_job_id(request.job.root));
  }
};

Result<void> need_submission(const AdviseFlags& flags) {
  return need_job(flags.request.job, "advise").and_then([&] {
    return need(!flags.request.user.empty(), "advise", "--user U");
  });
}

Result<int> print_advice(const CommandCall& call, const AdviseFlags& flags) {
  if (flags.is_of_job()) {
    const auto job = job_of_daemon(call, flags.which, flags.request.job.root);
    if (!job) return tl::unexpected(job.error());
    if (job->document)
      return show_part(call, *job->document, "advice", screen::live_advice_text(*job->document));
    if (auto ok = need_submission(flags); !ok) return tl::unexpected(behind(*job, ok.error()));
  }
  const auto advice = service::advise(call.session, flags.request);
  if (!advice) return tl::unexpected(advice.error());
  if (call.json)
    call.console.verbatim(advice_json(*advice) + "\n");
  else
    call.console.text(
        screen::advice_text(*advice, flags.explain, call.session.environment.columns));
  return 0;
}

}  // namespace

Command advise_command(const Parser& parser) {
  const auto flags = std::make_shared<AdviseFlags>();
  service::AdviseRequest* const request = &flags->request;
  CLI::App& command = parser.app;
  add_job(command, request->job);
  add_model(parser);
  add_optional_daemon(command, flags->which);
  add_sources(command, request->job);
  command.add_option("--user", request->user, "user name recorded in the history")->type_name("U");
  command
      .add_option("--min-confidence", request->min_confidence,
                  "do not use facts that are less sure; auto: 97 % of what is left is right; "
                  "default: all are used")
      ->type_name("P|auto");
  command.add_option("--branch", request->branch, "branch of the repository")->type_name("B");
  command.add_option("--partition", request->vc, "virtual cluster or partition")->type_name("P");
  takes_time_limit(*command
                        .add_option("--time-limit", request->time_limit_s,
                                    "time limit: seconds, or 90m, 2:00:00, 1-12:00:00; estimates "
                                    "are capped at it")
                        ->type_name("TIME"));
  command.add_option("--job-id", request->id, "job id under which --record stores it")
      ->type_name("ID");
  takes_date(*command.add_option("--submit-time", request->submit_s, "default: now")
                  ->type_name("UNIX_SECONDS"));
  command.add_flag("--record", request->record,
                   "store the submission; record its end with `history finish ID`");
  command.add_flag("--explain", flags->explain,
                   "also show every fact with the line that proves it, and what was not used");
  add_setting(parser, "--estimate", "estimate", "calibrated (default) or paper");
  add_setting(parser, "--similarity", "similarity", "mixed (default) or paper");
  add_setting(parser, "--embedder", "embedder.kind", "embedder of job texts; default: lexical");
  command.get_option("dir")->description(
      "root folder of the job: repository or snapshot; or a job id of a daemon, alone");
  command.footer(
      "Example:\n  schedmate advise . --command 'python train.py --epochs 20' --user ann \\\n"
      "      --job-id 17 --record");
  return {[flags](const CommandCall& call) { return print_advice(call, *flags); },
          [flags]() -> Result<void> {
            if (flags->is_of_job()) return {};
            return need_submission(*flags);
          }};
}

}  // namespace schedmate
