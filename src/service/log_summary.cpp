// SPDX-License-Identifier: Apache-2.0
#include "service/log_summary.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <schedmate/progress.hpp>

#include "advisor/past_failures.hpp"
#include "base/foreign_file.hpp"
#include "base/words.hpp"
#include "log/failure/diagnosis_document.hpp"
#include "log/failure/job_file.hpp"
#include "log/progress/progress_document.hpp"
#include "secrets/outgoing.hpp"
#include "service/advisor_state.hpp"
#include "service/file_access.hpp"

namespace schedmate::service {
namespace {

using Json = nlohmann::ordered_json;

/// What a summary says of the log and the job; nothing when it names no log.
std::optional<LogOfJob> read_summary(const JobRecord& record) {
  const Json json = Json::parse(record.outcome->log_summary, nullptr, false);
  if (!json.is_object() || !json.contains("log") || !json["log"].is_string()) return std::nullopt;
  LogOfJob found{json["log"].get<std::string>(), JobContext(), record.user};
  if (json.contains("job") && json["job"].is_object())
    if (auto job = failure::read_job_document(record.id, json["job"])) found.job = *std::move(job);
  found.job->job_id = record.id;
  found.job->user = record.user;
  return found;
}

}  // namespace

Result<void> consult_history(const settings::Session& session, const HistoryView& history,
                             const HistoryQuery& what, Diagnosis& made) {
  if (made.verdict == FailureClass::none) return {};
  const advisor::FailureSubject subject{what.job.job_id, what.job.user, made.fingerprint,
                                        end_of(what.job).value_or(session.clock.wall())};
  const auto same = advisor::same_failures(history.store, subject);
  if (!same) return tl::unexpected(same.error());
  made.seen = seen_before(*same, what.job.nodes, {what.job.user, history.role});
  const auto past = advisor::failures_for_caps(history.store, subject);
  if (!past) return tl::unexpected(past.error());
  const settings::Settings& settings = session.settings;
  apply_caps({*past, subject.user, subject.ended, what.step},
             {.restarts_per_job = settings.whole("caps.restarts_per_job"),
              .restarts_per_user_hour = settings.whole("caps.restarts_per_user_hour"),
              .nodes_per_hour = settings.whole("caps.nodes_per_hour"),
              .same_cause_same_step = settings.whole("caps.same_cause_same_step")},
             made);
  return {};
}

Result<LogSummary> summarize_log(const settings::Session& session, const HistoryView& history,
                                 const std::string& path, const JobContext& job) {
  const auto files = request_files(session);
  if (!files) return tl::unexpected(files.error());
  const FileAccess access = as_owner(files->access, job.user);
  auto progress = track(path, {session.settings.text("rules"), {}, access});
  if (!progress) return tl::unexpected(progress.error());
  const secrets::LogRedactor secrets({path}, access);
  secrets.make_safe(progress->evidence);
  DiagnoseInput input;
  input.paths = {path};
  input.rules = session.settings.text("rules");
  input.clean = [&](std::string_view text) { return secrets.line(text); };
  input.access = access;
  const bool placed = !job.state.empty() || !job.nodes.empty();
  if (placed) input.job = job;
  auto made = diagnose(input);
  if (!made) return tl::unexpected(made.error());
  if (auto done = consult_history(session, history, {job, progress->step}, *made); !done)
    return tl::unexpected(done.error());
  std::error_code error;
  Json summary = {{"log", secrets::redacted(
                              std::filesystem::absolute(path, error).lexically_normal().string())},
                  {"job", placed ? failure::job_document(job) : Json(nullptr)},
                  {"progress", progress::progress_document(*progress)},
                  {"diagnosis", failure::diagnosis_document(*made)}};
  add_left_out(*files->left_out, summary);
  return LogSummary{in_one_line(summary), made->fingerprint};
}

std::string log_index_folder(const settings::Session& session) {
  return session.state_dir() + "/log-index";
}

Result<std::optional<LogOfJob>> log_of_job(Store& store, const std::string& id) {
  const auto record = store.get(id);
  if (!record) return tl::unexpected(record.error());
  if (!*record || !(*record)->outcome) return std::nullopt;
  return read_summary(**record);
}

bool is_there(const ForeignPath& path) {
  const auto file = ForeignFile::open(path);
  return file || file.error().code != ErrorCode::not_found;
}

Result<LogOfJob> find_log(const settings::Session& session, const ForeignPath& subject) {
  if (is_there(subject)) return LogOfJob{subject.name, std::nullopt, ""};
  const auto history = open_history(session);
  if (!history) return tl::unexpected(history.error());
  auto found = log_of_job(*history->store, subject.name);
  if (!found) return tl::unexpected(found.error());
  if (*found) return **std::move(found);
  return fail(ErrorCode::not_found, fmt::format("{}: no such file, and no job with a log in the "
                                                "history (history finish ID --log FILE adds one)",
                                                printable(subject.name)));
}

}  // namespace schedmate::service
