// SPDX-License-Identifier: Apache-2.0

/// `schedmate jobs`: the jobs that a daemon follows.

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/daemon_call.hpp"
#include "apps/flag_values.hpp"
#include "screen/live_jobs_text.hpp"

namespace schedmate {
namespace {

struct JobsFlags {
  client::WhichDaemon which;
  std::string state, user, since, limit, cursor;
};

Result<int> print_jobs(const CommandCall& call, const JobsFlags& flags) {
  const auto daemon = client::daemon_of(call.session, flags.which);
  if (!daemon) return tl::unexpected(daemon.error());
  Query query{{"state", flags.state}, {"user", flags.user}, {"since", flags.since}};
  const std::size_t most = flags.limit.empty() ? 20 : std::stoull(flags.limit);
  if (call.json) {
    query.insert(query.end(), {{"limit", most == 0 ? "" : flags.limit}, {"cursor", flags.cursor}});
    return show(
        call, client::ask(*daemon, {.path = "/api/v1/jobs" + query_of(query)}, "schedmate.jobs.v1"),
        {});
  }
  const auto jobs = all_pages(*daemon, {"/api/v1/jobs", query, "schedmate.jobs.v1", "jobs"});
  if (!jobs) return tl::unexpected(jobs.error());
  call.console.text(screen::live_jobs_text(*jobs, cluster_now(*daemon),
                                           screen::screen_style(call.session.environment), most));
  return 0;
}

}  // namespace

Command jobs_command(const Parser& parser) {
  const auto flags = std::make_shared<JobsFlags>();
  CLI::App& command = parser.app;
  command.add_option("--state", flags->state, "only jobs in this state")->type_name("JOBSTATE");
  command.add_option("--user", flags->user, "only jobs of this user")->type_name("USER");
  takes_date(*command.add_option("--since", flags->since, "only jobs submitted since")
                  ->type_name("UNIX_SECONDS"));
  takes_whole(*command
                   .add_option("--limit", flags->limit,
                               "jobs to show, 0 = all; default: 20; with --json: of a page")
                   ->type_name("N"));
  command.add_option("--cursor", flags->cursor, "with --json: `next` of the page before")
      ->type_name("NEXT");
  add_daemon(command, flags->which);
  command.footer("Examples:\n  schedmate jobs --state running\n  schedmate jobs --user ann --json");
  return {[flags](const CommandCall& call) { return print_jobs(call, *flags); }};
}

}  // namespace schedmate
