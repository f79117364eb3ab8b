// SPDX-License-Identifier: Apache-2.0

/// `schedmate diagnose`: why a job ended, with the line that says so.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/daemon_call.hpp"
#include "screen/diagnosis_text.hpp"
#include "screen/live_jobs_text.hpp"
#include "service/diagnose.hpp"

namespace schedmate {
namespace {

struct DiagnoseFlags {
  service::DiagnoseRequest request;
  client::WhichDaemon which;

  /// Something beside an id, which a daemon has by itself.
  [[nodiscard]] bool names_sources() const {
    return request.logs.size() != 1 || !request.job.empty() || !request.kernel_logs.empty() ||
           request.nvml || !request.readings.empty() || !request.good.empty();
  }
};

Result<int> print_diagnosis(const CommandCall& call, const DiagnoseFlags& flags) {
  const service::DiagnoseRequest& request = flags.request;
  DaemonsWord told;
  if (!flags.names_sources()) {
    auto job = job_of_daemon(call, flags.which, request.logs.front());
    if (!job) return tl::unexpected(job.error());
    told = std::move(*job);
  }
  if (told.document && !request.min_confidence.empty())
    return fail(ErrorCode::unsupported,
                "diagnose --min-confidence takes a log; of a daemon's job: schedmate job ID");
  if (told.document)
    return show_part(call, *told.document, "diagnosis",
                     screen::live_diagnosis_text(*told.document,
                                                 screen::screen_style(call.session.environment)));
  const auto answer = service::diagnose(call.session, request);
  if (!answer) return tl::unexpected(behind(told, answer.error()));
  for (const auto& warning : answer->warnings) call.console.warn(warning);
  if (call.json)
    call.console.json(service::diagnose_document(*answer));
  else
    call.console.text(screen::diagnosis_text(answer->diagnosis, answer->notes));
  return answer->diagnosis.judged ? 0 : exit_code(ErrorCode::invalid);
}

}  // namespace

Command diagnose_command(const Parser& parser) {
  const auto flags = std::make_shared<DiagnoseFlags>();
  service::DiagnoseRequest* const request = &flags->request;
  CLI::App& command = parser.app;
  command
      .add_option(
          "logs", request->logs,
          "log of the job, one log per rank, - for a pipe, or a job id, of a daemon or the history")
      ->type_name("LOG|JOB");
  command.add_option("--job", request->job, "what the scheduler knows about the job (JSON)")
      ->type_name("FILE");
  command
      .add_option("--kernel-log", request->kernel_logs,
                  "kernel log of a node of the job (dmesg -T, journalctl -k); repeatable")
      ->type_name("[NODE=]FILE")
      ->allow_extra_args(false);
  command.add_flag("--nvml", request->nvml, "query the GPUs of this machine");
  command
      .add_option("--nvml-from", request->readings,
                  "output of --nvml --json on that node; repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command.add_option("--good", request->good, "log of a successful run to compare with")
      ->type_name("FILE");
  command
      .add_option("--locate", request->locate,
                  "how to find the line that names the cause; default: scan")
      ->type_name("LOCATOR");
  command.add_option("--classify", request->classify, "how to classify lines; default: rules")
      ->type_name("CLASSIFIER");
  command
      .add_option(
          "--min-confidence", request->min_confidence,
          "a verdict or a line that is less sure is not known; auto: 97 % of the others are "
          "right; default: no cut")
      ->type_name("P|auto");
  add_model(parser);
  add_optional_daemon(command, flags->which);
  command.footer(
      "Example:\n  schedmate diagnose slurm-17.out --job job.json --kernel-log n11=dmesg.txt "
      "--nvml");
  return {[flags](const CommandCall& call) { return print_diagnosis(call, *flags); },
          [flags]() -> Result<void> {
            if (!flags->which.address.empty() && flags->names_sources())
              return fail(
                  ErrorCode::unsupported,
                  "diagnose: --address asks a daemon about one job id, without other files");
            return need(!flags->request.logs.empty(), "diagnose", "LOG");
          }};
}

}  // namespace schedmate
