// SPDX-License-Identifier: Apache-2.0

/// `schedmate eta`: when waiting jobs start and running ones end.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/command.hpp"
#include "apps/flag_values.hpp"
#include "apps/queue_flags.hpp"
#include "queue/eta_calibration.hpp"
#include "screen/eta_text.hpp"
#include "screen/screen.hpp"

namespace schedmate {
namespace {

struct EtaFlags {
  queue::EtaRequest request;
  std::size_t limit = 20;
  bool running = false;
  std::int64_t days = 28, instants = 200;

  [[nodiscard]] bool calibrates() const { return request.job == "calibration"; }
};

Result<int> print_eta(const CommandCall& call, const EtaFlags& flags) {
  const auto eta = queue::eta(call.session, flags.request);
  if (!eta) return tl::unexpected(eta.error());
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
      calibrates ? std::vector<std::string>{"--running", "--limit", "--outcome"}
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
          [app = &command, flags] { return check_flags(*app, flags->calibrates()); }};
}

}  // namespace schedmate
