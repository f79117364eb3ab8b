// SPDX-License-Identifier: Apache-2.0
#include "apps/diagnose_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <schedmate/diagnosis.hpp>
#include <schedmate/progress.hpp>

#include "apps/advisor_state.hpp"
#include "apps/log_models.hpp"
#include "apps/log_summary.hpp"
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

/// "7 jobs of 3 users, always with n12 (jobs 9 8 5)".
std::string seen_text(const SeenBefore& seen) {
  auto text = fmt::format("{} earlier job{} of {} user{}", seen.jobs, seen.jobs == 1 ? "" : "s",
                          seen.users, seen.users == 1 ? "" : "s");
  if (!seen.nodes.empty()) text += fmt::format(", always with {}", fmt::join(seen.nodes, " "));
  if (!seen.job_ids.empty()) text += printable(fmt::format(" ({})", fmt::join(seen.job_ids, " ")));
  return text;
}

std::string text_of(const Diagnosis& made, const ModelTally& tally) {
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
  for (const auto& note : tally.notes) rows.push_back({"note", note});
  if (!made.fingerprint.empty()) rows.push_back({"fingerprint", made.fingerprint});
  if (made.seen) rows.push_back({"seen", seen_text(*made.seen)});
  return aligned(rows) + evidence_text("evidence", made.evidence, true) +
         evidence_text("new since the good run", made.unseen, false);
}

std::optional<HistoryAccess> known_history(const Session& session) {
  auto history = find_history(session);
  if (history) return *std::move(history);
  fmt::print(stderr, "schedmate: the history was not asked: {}\n", history.error().message);
  return std::nullopt;
}

/// The log of a job of the history, when that is what the caller named.
Result<void> find_job(const std::optional<HistoryAccess>& history, DiagnoseInput& input) {
  std::error_code error;
  if (!history || input.paths.size() != 1 || std::filesystem::exists(input.paths.front(), error))
    return {};
  auto found = log_of_job(*history->store, input.paths.front());
  if (!found) return tl::unexpected(found.error());
  if (!*found) return {};  // reading it says that there is no such file
  input.paths = {(*found)->path};
  if (!input.job) input.job = std::move((*found)->job);
  return {};
}

/// What other jobs say of this one. A history that cannot be read takes nothing from a diagnosis.
void add_history(const Session& session, const std::optional<HistoryAccess>& history,
                 const DiagnoseInput& input, Diagnosis& made) {
  if (!history || !input.job) return;
  const auto progress = track(input.paths, {input.rules});
  const auto step = progress ? progress->step : std::nullopt;
  const HistoryView view{*history->store, history->is_operator};
  if (auto done = consult_history(session, view, {*input.job, step}, made); !done)
    fmt::print(stderr, "schedmate: the history was not asked: {}\n", done.error().message);
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
  const auto models = open_models(session, "");
  if (!models) return tl::unexpected(models.error());
  ModelTally tally;
  DiagnoseInput input;
  input.paths = request.logs;
  input.reader = cause_reader(*models, tally);
  input.doubtful_below =
      static_cast<double>(session.settings.whole("diagnose.doubtful_below_pct")) / 100;
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
  const auto history = known_history(session);
  if (auto done = find_job(history, input); !done) return done;
  auto made = diagnose(input);
  if (!made) return tl::unexpected(made.error());
  add_history(session, history, input, *made);
  tally.accepted = made->by.ends_with("/model") ? 1 : 0;
  tally.dropped += std::ssize(made->dropped);
  for (const auto& why : made->dropped) tally.note("model: " + printable(why));
  const bool open = made->verdict != FailureClass::none && made->confidence < input.doubtful_below;
  if (models->chats.empty() && open) tally.note("model: not asked");
  fmt::print("{}", session.json ? with_cost(diagnosis_json(*made), *models, tally, 2)
                                : text_of(*made, tally));
  return {};
}

}  // namespace schedmate
