// SPDX-License-Identifier: Apache-2.0
#include "service/diagnose.hpp"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <schedmate/progress.hpp>

#include "base/confidence.hpp"
#include "log/failure/diagnosis_document.hpp"
#include "secrets/outgoing.hpp"
#include "service/advisor_state.hpp"
#include "service/file_access.hpp"
#include "service/held_input.hpp"
#include "service/log_summary.hpp"

namespace schedmate::service {
namespace {

void warn_of_history(const Error& error, std::vector<std::string>& warnings) {
  warnings.push_back("the history was not queried: " + error.message);
}

std::optional<HistoryAccess> known_history(const settings::Session& session,
                                           std::vector<std::string>& warnings) {
  auto history = find_history(session);
  if (history) return *std::move(history);
  warn_of_history(history.error(), warnings);
  return std::nullopt;
}

/// The log of a job of the history, when that is what the caller named.
Result<void> find_job(const std::optional<HistoryAccess>& history, DiagnoseInput& input) {
  if (!history || input.paths.size() != 1 || is_there({input.paths.front(), input.access}))
    return {};
  auto found = log_of_job(*history->store, input.paths.front());
  if (!found) return tl::unexpected(found.error());
  if (!*found) return {};  // reading it says that there is no such file
  input.paths = {(*found)->path};
  if (!input.job) input.job = std::move((*found)->job);
  input.access = as_owner(std::move(input.access), (*found)->user);
  return {};
}

/// What other jobs say of this one. A history that cannot be read takes nothing from a diagnosis.
Result<void> add_history(const settings::Session& session,
                         const std::optional<HistoryAccess>& history, const DiagnoseInput& input,
                         Diagnosis& made) {
  if (!history || !input.job) return {};
  const auto progress = schedmate::track(input.paths, {input.rules, {}, input.access});
  const auto step = progress ? progress->step : std::nullopt;
  const HistoryView view{*history->store, history->role};
  return consult_history(session, view, {*input.job, step}, made);
}

/// What --kernel-log, --nvml and --nvml-from bring.
Result<void> add_witnesses(const settings::Session& session, const DiagnoseRequest& request,
                           HeldInputs& held, DiagnoseInput& input) {
  for (const std::string& text : request.kernel_logs) {
    KernelLog& log = input.kernel_logs.emplace_back(read_kernel_log_name(text));
    auto path = held.hold(log.path);
    if (!path) return tl::unexpected(path.error());
    log.path = *std::move(path);
  }
  for (const std::string& path : request.readings) {
    auto readings = read_gpus_file({path, input.access});
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

/// What outlives the reading: pipes, and the classifier's embedder.
struct Held {
  HeldInputs inputs;
  std::optional<Embedder> embedder{};
};

/// What the request and the settings say.
Result<DiagnoseInput> input_of(const settings::Session& session, const DiagnoseRequest& request,
                               const FileAccess& access, Held& kept) {
  HeldInputs& held = kept.inputs;
  DiagnoseInput input;
  input.access = access;
  input.paths = held.paths();
  input.doubtful_below =
      static_cast<double>(session.settings.whole("diagnose.doubtful_below_pct")) / 100;
  input.locator = request.locate;
  input.classifier = request.classify;
  input.rules = session.settings.text("rules");
  if (!request.good.empty()) {
    auto path = held.hold(request.good);
    if (!path) return tl::unexpected(path.error());
    input.good = *std::move(path);
  }
  if (!request.job.empty()) {
    const auto path = held.hold(request.job);
    if (!path) return tl::unexpected(path.error());
    auto job = read_job_file({*path, input.access});
    if (!job) return tl::unexpected(job.error());
    input.job = *std::move(job);
  }
  if (request.classify == "embedding") {
    auto opened = open_embedder(session);
    if (!opened) return tl::unexpected(opened.error());
    kept.embedder = *std::move(opened);
    input.embedder = &*kept.embedder;
  }
  if (auto added = add_witnesses(session, request, held, input); !added)
    return tl::unexpected(added.error());
  return input;
}

/// What came through a pipe is called as the caller called it.
void name_inputs(const HeldInputs& held, Diagnosis& made) {
  made.root_file = held.named(std::move(made.root_file));
  if (!made.judged) made.reason = held.named(std::move(made.reason));
  for (std::string& each : made.unread) each = held.named(std::move(each));
  for (auto* list : {&made.evidence, &made.unseen})
    for (LogEvidence& each : *list) each.file = held.named(std::move(each.file));
}

}  // namespace

Result<DiagnoseAnswer> diagnose(const settings::Session& session, const DiagnoseRequest& request) {
  const auto least = confidence_bound(request.min_confidence, careful_diagnosis_confidence());
  if (!least) return tl::unexpected(least.error());
  const auto models = open_models(session, "");
  if (!models) return tl::unexpected(models.error());
  const auto files = request_files(session);
  if (!files) return tl::unexpected(files.error());
  auto opened = HeldInputs::open(request.logs);
  if (!opened) return tl::unexpected(opened.error());
  Held kept{*std::move(opened)};
  const HeldInputs& held = kept.inputs;
  auto input = input_of(session, request, files->access, kept);
  if (!input) return fail(input.error().code, held.named(input.error().message));
  llm::QuestionTally tally;
  DiagnoseAnswer answer;
  const auto history = known_history(session, answer.warnings);
  if (auto found = find_job(history, *input); !found) return tl::unexpected(found.error());
  const secrets::LogRedactor secrets(input->paths, files->access);
  input->clean = [&](std::string_view text) { return secrets.line(text); };
  input->reader =
      cause_reader(*models, [&](std::string_view text) { return secrets.text(text); }, tally);
  auto made = schedmate::diagnose(*input);
  if (!made) return fail(made.error().code, held.named(made.error().message));
  if (auto asked = add_history(session, history, *input, *made); !asked)
    warn_of_history(asked.error(), answer.warnings);
  tally.accepted = made->by.ends_with("/model") ? 1 : 0;
  tally.dropped += std::ssize(made->dropped);
  for (const auto& why : made->dropped) tally.note("model: " + why);
  const bool open = made->doubtful;
  if (models->chats.empty() && open) tally.note("model: not asked");
  cut_below(*least, *made);
  name_inputs(held, *made);
  made->reason = secrets::safe_line(made->reason);
  made->root_file = secrets::redacted(made->root_file);
  secrets::make_safe(made->unread);
  for (LogEvidence& line : made->evidence) line.file = secrets::redacted(line.file);
  secrets::make_safe(tally.notes);
  answer.left_out = *files->left_out;
  const auto of_pipes = held.notes();
  answer.left_out.insert(answer.left_out.end(), of_pipes.begin(), of_pipes.end());
  answer.notes = tally.notes;
  answer.notes.insert(answer.notes.end(), answer.left_out.begin(), answer.left_out.end());
  answer.cost = cost_of(*models, tally);
  answer.diagnosis = *std::move(made);
  return answer;
}

Document diagnose_document(const DiagnoseAnswer& answer) {
  Document document = failure::diagnosis_document(answer.diagnosis);
  add_cost(answer.cost, document);
  add_left_out(answer.left_out, document);
  return document;
}

}  // namespace schedmate::service
