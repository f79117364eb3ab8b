// SPDX-License-Identifier: Apache-2.0

/// `schedmate eta`: when waiting jobs start and running ones end.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/daemon_call.hpp"
#include "apps/flag_values.hpp"
#include "apps/queue_flags.hpp"
#include "queue/eta_calibration.hpp"
#include "screen/eta_text.hpp"
#include "screen/fields.hpp"
#include "screen/live_jobs_text.hpp"
#include "screen/screen.hpp"

namespace schedmate {
namespace {

struct EtaFlags {
  queue::EtaRequest request;
  std::size_t limit = 20;
  bool running = false;
  std::int64_t days = 28, instants = 200;
  client::WhichDaemon which;

  [[nodiscard]] bool calibrates() const { return request.job == "calibration"; }
};

Result<int> print_live_queue(const CommandCall& call, const client::DaemonClient& daemon,
                             const EtaFlags& flags) {
  const Query query{{"state", flags.running ? "" : "pending"}};
  if (call.json)
    return show(
        call, client::ask(daemon, {.path = "/api/v1/jobs" + query_of(query)}, "schedmate.jobs.v1"),
        {});
  auto jobs = all_pages(daemon, {"/api/v1/jobs", query, "schedmate.jobs.v1", "jobs"});
  if (!jobs) return tl::unexpected(jobs.error());
  std::erase_if(*jobs, [](const Document& job) {
    const std::string state = screen::word(job, "state");
    return state != "pending" && state != "running";
  });
  call.console.text(screen::live_jobs_text(
      *jobs, cluster_now(daemon), screen::screen_style(call.session.environment), flags.limit));
  return 0;
}

/// Nothing where no daemon is asked, or the one that was found does not know the job: `told`.
Result<std::optional<int>> print_live_eta(const CommandCall& call, const EtaFlags& flags,
                                          DaemonsWord& told) {
  if (is_of_queue(flags.request) || flags.request.outcome) return std::nullopt;
  const auto daemon = client::daemon_if_any(call.session, flags.which);
  if (!daemon) return tl::unexpected(daemon.error());
  if (!*daemon) return std::nullopt;
  const auto some = [](int code) { return std::optional(code); };
  if (flags.request.job.empty()) return print_live_queue(call, **daemon, flags).map(some);
  auto job =
      ask_about_job(**daemon, flags.which, client::job_path(flags.request.job), "schedmate.job.v1");
  if (!job) return tl::unexpected(job.error());
  told = std::move(*job);
  if (!told.document) return std::nullopt;
  const std::string text = screen::live_eta_text(*told.document, cluster_now(**daemon),
                                                 screen::screen_style(call.session.environment));
  if (call.json) return show_part(call, *told.document, "eta", "").map(some);
  call.console.text(text);
  return 0;
}

Result<int> print_eta(const CommandCall& call, const EtaFlags& flags) {
  DaemonsWord told;
  const auto shown = print_live_eta(call, flags, told);
  if (!shown) return tl::unexpected(shown.error());
  if (*shown) return **shown;
  const auto eta = queue::eta(call.session, flags.request);
  if (!eta) return tl::unexpected(behind(told, eta.error()));
  const auto& environment = call.session.environment;
  if (call.json)
    call.console.json(queue::eta_document(*eta));
  else
    call.console.text(screen::eta_text(*eta, screen::screen_style(environment), flags.limit,
                                       flags.running || !flags.request.job.empty()));
  return 0;
}

Result<int> print_calibration(const CommandCall& call, const EtaFlags& flags) {
  queue::EtaCalibrationRequest request{
      .of = flags.request, .days = flags.days, .instants = flags.instants};
  request.of.job.clear();
  const auto figures = queue::calibrate_eta(call.session, request);
  if (!figures) return tl::unexpected(figures.error());
  if (call.json)
    call.console.json(queue::eta_calibration_document(*figures));
  else
    call.console.text(
        screen::eta_calibration_text(*figures, screen::screen_style(call.session.environment)));
  return 0;
}

/// Flags that mean nothing to what is asked for.
Result<void> check_flags(const CLI::App& command, bool calibrates) {
  const std::vector<std::string> others =
      calibrates ? std::vector<std::string>{"--running", "--limit", "--outcome", "--address"}
                 : std::vector<std::string>{"--days", "--instants"};
  for (const std::string& flag : others)
    if (command.count(flag) > 0)
      return fail(ErrorCode::unsupported, fmt::format("eta: {} is {} `eta calibration`", flag,
                                                      calibrates ? "not for" : "of"));
  return {};
}

}  // namespace

Command eta_command(const Parser& parser) {
  const auto flags = std::make_shared<EtaFlags>();
  CLI::App& command = parser.app;
  add_queue_flags(parser, flags->request);
  add_optional_daemon(command, flags->which);
  command.add_flag("--running", flags->running, "show running jobs, too");
  command.add_flag("--outcome", flags->request.outcome,
                   "of a trace: show beside it what then happened in the replay");
  takes_whole(*command.add_option("--limit", flags->limit, "jobs to show, 0 = all; default: 20")
                   ->type_name("N"));
  takes_whole(*command.add_option("--days", flags->days, "calibration: of the past; default: 28")
                   ->type_name("N"),
              1, 3650);
  takes_whole(*command
                   .add_option("--instants", flags->instants,
                               "calibration: random instants to forecast from; default: 200")
                   ->type_name("N"),
              1, 1'000'000);
  command.footer(
      "schedmate eta calibration: forecasts instants of the past, holds them against what came, "
      "and\n"
      "keeps that, so that later intervals hold as often as they say.\n"
      "\n"
      "Examples:\n"
      "  schedmate eta --from slurm\n"
      "  schedmate eta calibration --from slurm\n"
      "  (for what in \"node -d\" partition reservation assoc_mgr \"job -d\" config; do\n"
      "      scontrol show $what; done) | schedmate eta --from -\n"
      "  (squeue --json; sinfo --json) | schedmate eta --from -\n"
      "  schedmate eta --from trace:helios:data/venus/venus_sept2020_days0-12.csv.gz --at +9-14");
  return {[flags](const CommandCall& call) {
            return flags->calibrates() ? print_calibration(call, *flags) : print_eta(call, *flags);
          },
          [app = &command, flags] {
            return check_flags(*app, flags->calibrates()).and_then([&] {
              return check_place("eta", flags->request, flags->which);
            });
          }};
}

}  // namespace schedmate
