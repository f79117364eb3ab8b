// SPDX-License-Identifier: Apache-2.0
#include "apps/diagnose_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <schedmate/diagnosis.hpp>

#include "apps/advisor_state.hpp"
#include "apps/words.hpp"
#include "tree/redact.hpp"

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
    rows.back().push_back(each.text);
  }
  return fmt::format("\n{}\n{}", title, aligned(rows));
}

std::string text_of(const Diagnosis& made) {
  std::vector<std::vector<std::string>> rows{{"class", std::string(name_of(made.verdict))}};
  if (made.component != Component::none)
    rows.push_back({"component", std::string(name_of(made.component))});
  rows.push_back({"reason", made.reason});
  if (made.verdict != FailureClass::none) {
    rows.push_back({"recommendation", std::string(name_of(made.recommendation))});
    if (!made.advice.empty()) rows.push_back({"", made.advice});
  }
  if (!made.nodes.empty()) rows.push_back({"nodes", fmt::format("{}", fmt::join(made.nodes, " "))});
  rows.push_back({"confidence", fmt::format("{:.2f} ({})", made.confidence, made.by)});
  for (const Witness& each : made.witnesses) {
    const auto* const word = !each.asked    ? "is missing"
                             : !each.agrees ? "says nothing on this"
                             : *each.agrees ? "agrees"
                                            : "disagrees";
    rows.push_back({"witness", printable(fmt::format("{} {}: {}", each.name, word, each.says))});
  }
  if (!made.fingerprint.empty()) rows.push_back({"fingerprint", made.fingerprint});
  return aligned(rows) + evidence_text("evidence", made.evidence, true) +
         evidence_text("new since the good run", made.unseen, false);
}

/// What --kernel-log, --nvml and --nvml-from bring.
Result<void> add_witnesses(const Session& session, const DiagnoseRequest& request,
                           DiagnoseInput& input) {
  for (const std::string& text : request.kernel_logs)
    input.kernel_logs.push_back(read_kernel_log_name(text));
  for (const std::string& path : request.readings) {
    auto readings = read_gpus_file(path);
    if (!readings) return tl::unexpected(readings.error());
    std::ranges::move(*readings, std::back_inserter(input.gpus));
  }
  if (request.nvml)
    input.gpus.push_back(
        read_gpus({.library = session.settings.text("nvml.library"),
                   .node = session.environment.host,
                   .deadline = std::chrono::seconds(session.settings.whole("nvml.deadline_s"))}));
  return {};
}

}  // namespace

Result<void> diagnose_command(const Session& session, const DiagnoseRequest& request) {
  DiagnoseInput input;
  input.paths = request.logs;
  input.locator = request.locate;
  input.classifier = request.classify;
  input.rules = session.settings.text("rules");
  input.good = request.good;
  input.clean = [](std::string_view text) { return printable(redact(text)); };
  if (!request.job.empty()) {
    auto job = read_job_file(request.job);
    if (!job) return tl::unexpected(job.error());
    input.job = *std::move(job);
  }
  std::optional<Embedder> embedder;
  if (request.classify == "embedding") {
    auto opened = open_embedder(session);
    if (!opened) return tl::unexpected(opened.error());
    embedder = *std::move(opened);
    input.embedder = &*embedder;
  }
  if (auto done = add_witnesses(session, request, input); !done) return done;
  const auto made = diagnose(input);
  if (!made) return tl::unexpected(made.error());
  fmt::print("{}", session.json ? diagnosis_json(*made) : text_of(*made));
  return {};
}

}  // namespace schedmate
