// SPDX-License-Identifier: Apache-2.0

/// `schedmate report`: finished jobs, what they used and wasted, why and where they failed.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/command.hpp"
#include "apps/flag_values.hpp"
#include "screen/report_text.hpp"
#include "screen/screen.hpp"
#include "service/report.hpp"

namespace schedmate {
namespace {

struct ReportFlags {
  service::ReportQuestion question;
  std::optional<std::size_t> limit;
  bool csv = false;
};

Result<int> print_report(const CommandCall& call, const ReportFlags& flags) {
  if (call.json && flags.csv)
    return fail(ErrorCode::unsupported, "report: --json and --csv: give one of them");
  const auto report = service::report_usage(call.session, flags.question);
  if (!report) return tl::unexpected(report.error());
  const screen::ScreenStyle style = screen::screen_style(call.session.environment);
  constexpr std::size_t usual = 20;
  if (call.json)
    call.console.json(service::usage_document(*report));
  else if (flags.csv)
    call.console.verbatim(service::usage_csv(*report));
  else
    call.console.text(
        screen::report_text(*report, style, flags.limit.value_or(style.width == 0 ? 0 : usual)));
  return 0;
}

}  // namespace

Command report_command(const Parser& parser) {
  const auto flags = std::make_shared<ReportFlags>();
  CLI::App& command = parser.app;
  service::ReportQuestion& question = flags->question;
  command
      .add_option(
          "--since", question.since,
          "jobs that ended since then: 7d, 12h, 2w, a date or all; default: 7d, of a file all")
      ->type_name("TIME");
  command.add_option("--user", question.user, "only jobs of this user")->type_name("U");
  command.add_option("--state", question.state, "only jobs that ended so: failed, timeout, ...")
      ->type_name("WORD");
  command
      .add_option("--by", question.by, "sums by user, node, day or cause instead of single jobs")
      ->type_name("GROUPING");
  command.add_option("--sort", question.sort, "order of the jobs; default: waste")
      ->type_name("SORTING");
  command
      .add_option("--from", question.from,
                  "sacct:FILE (a dump), sacct (the program) or history; default: the history, and "
                  "the program where that has nothing")
      ->type_name("WHERE");
  takes_whole(
      *command
           .add_option("--limit", flags->limit, "jobs to show, 0 = all; default: 20, in a pipe all")
           ->type_name("N"));
  command.add_flag("--csv", flags->csv, "print CSV: every field of every job");
  add_strict(parser, "a bad row of a dump is an error");
  command.footer(
      "Sortings: waste, end, ran, wait, gpu_hours, time_eff, cpu_eff, mem_eff, gpu_eff, user, "
      "job\n\n"
      "Examples:\n  schedmate report --since 7d --by user\n"
      "  schedmate report --from sacct:jobs.txt --sort gpu_eff");
  return {[flags](const CommandCall& call) { return print_report(call, *flags); }};
}

}  // namespace schedmate
