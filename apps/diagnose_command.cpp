// SPDX-License-Identifier: Apache-2.0

/// `schedmate diagnose`: why a job ended, with the line that says so.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/command.hpp"
#include "base/table.hpp"
#include "base/words.hpp"
#include "service/diagnose.hpp"
#include "service/redaction.hpp"

namespace schedmate {
namespace {

std::string place_of(const LogEvidence& evidence) {
  return fmt::format("{}:{}", printable(evidence.file), evidence.line);
}

std::string evidence_text(std::string_view title, const std::vector<LogEvidence>& list,
                          bool with_role) {
  if (list.empty()) return "";
  std::vector<std::vector<std::string>> rows;
  for (const LogEvidence& each : list) {
    rows.push_back({"  " + place_of(each)});
    if (with_role) rows.back().emplace_back(name_of(each.role));
    rows.back().push_back(each.count > 1 ? fmt::format("{}  x {}", each.text, each.count)
                                         : each.text);
  }
  return fmt::format("\n{}\n{}", title, aligned(rows));
}

/// "7 jobs of 3 users, always with n12 (jobs 9 8 5)".
std::string seen_text(const EarlierOccurrences& seen) {
  auto text =
      fmt::format("{} of {}", counted(seen.jobs, "earlier job"), counted(seen.users, "user"));
  if (!seen.nodes.empty()) text += fmt::format(", always with {}", fmt::join(seen.nodes, " "));
  if (!seen.job_ids.empty()) text += printable(fmt::format(" ({})", fmt::join(seen.job_ids, " ")));
  return text;
}

/// One line for each that was asked, and one for all that were not.
std::string witness_text(const std::vector<Witness>& witnesses) {
  std::string asked;
  std::string missing;
  for (const Witness& each : witnesses) {
    if (!each.asked) {
      missing += fmt::format("{}{} ({})", missing.empty() ? "" : ", ", each.name, each.says);
      continue;
    }
    const auto* const word = !each.agrees ? "does not say" : *each.agrees ? "agrees" : "disagrees";
    asked += fmt::format("  {} {}: {}\n", each.name, word, printable(each.says));
  }
  if (!missing.empty()) asked += fmt::format("  missing: {}\n", printable(missing));
  return asked.empty() ? "" : "\nwitnesses\n" + asked;
}

std::string text_of(const Diagnosis& made, const std::vector<std::string>& notes) {
  const auto verdict = made.judged ? name_of(made.verdict) : "not known";
  std::vector<std::vector<std::string>> rows{{"class", std::string(verdict)}};
  if (made.component != Component::none)
    rows.push_back({"component", std::string(name_of(made.component))});
  rows.push_back({"reason", printable(made.reason)});
  if (made.verdict != FailureClass::none) {
    rows.push_back({"recommendation", std::string(name_of(made.recommendation))});
    if (!made.advice.empty()) rows.push_back({"", made.advice});
  }
  if (!made.nodes.empty()) rows.push_back({"nodes", fmt::format("{}", fmt::join(made.nodes, " "))});
  rows.push_back({"confidence", fmt::format("{:.2f} ({})", made.confidence, made.by)});
  if (made.judged)
    for (const auto& each : made.unread) rows.push_back({"note", printable(each)});
  for (const auto& note : notes) rows.push_back({"note", note});
  if (!made.fingerprint.empty()) rows.push_back({"fingerprint", made.fingerprint});
  if (made.seen) rows.push_back({"seen", seen_text(*made.seen)});
  return aligned(rows) + evidence_text("evidence", made.evidence, true) +
         evidence_text("new since the good run", made.unseen, false) + witness_text(made.witnesses);
}

Result<int> print_diagnosis(const CommandCall& call, const service::DiagnoseRequest& request) {
  const auto answer = service::diagnose(call.session, request);
  if (!answer) return tl::unexpected(answer.error());
  for (const auto& warning : answer->warnings) call.console.warn(warning);
  if (call.json)
    call.console.json(service::diagnose_document(*answer));
  else
    call.console.text(text_of(answer->diagnosis, answer->notes));
  return answer->diagnosis.judged ? 0 : exit_code(ErrorCode::invalid);
}

}  // namespace

Command diagnose_command(const Parser& parser) {
  const auto request = std::make_shared<service::DiagnoseRequest>();
  CLI::App& command = parser.app;
  command
      .add_option("logs", request->logs,
                  "log of the job, one log per rank, - for a pipe, or a job id from the history")
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
  add_model(parser);
  command.footer(
      "Example:\n  schedmate diagnose slurm-17.out --job job.json --kernel-log n11=dmesg.txt "
      "--nvml");
  return {[request](const CommandCall& call) { return print_diagnosis(call, *request); },
          [request] { return need(!request->logs.empty(), "diagnose", "LOG"); }};
}

}  // namespace schedmate
