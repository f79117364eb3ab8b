// SPDX-License-Identifier: Apache-2.0
#include "service/history.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "advisor/advisor.hpp"
#include "advisor/record_json.hpp"
#include "base/input.hpp"
#include "base/json.hpp"
#include "base/words.hpp"
#include "core/facts_json.hpp"
#include "log/ask/log_index.hpp"
#include "secrets/outgoing.hpp"
#include "service/advisor_state.hpp"
#include "service/file_access.hpp"
#include "service/log_summary.hpp"
#include "trace/values.hpp"

namespace schedmate::service {
namespace {

/// The history, for one who may see everybody's jobs.
Result<HistoryAccess> open_for_operator(const settings::Session& session, std::string_view action) {
  auto history = open_history(session);
  if (!history || history->role == Role::cluster_operator) return history;
  return fail(
      ErrorCode::refused,
      fmt::format(
          "history {}: {} belongs to another user; only its owner sees the jobs of all users",
          action, session.state_dir()));
}

/// An outcome as the flags say it; nothing when they say none.
Result<std::optional<Outcome>> wanted_outcome(const OutcomeRequest& request) {
  if (request.state.empty() && !request.duration_s) return std::nullopt;
  if (request.state.empty())
    return fail(ErrorCode::unsupported, "history: --duration-s needs --state STATE");
  const auto state = advisor::read_state(request.state);
  if (!state) return tl::unexpected(state.error());
  if (!request.duration_s || *request.duration_s < 0)
    return fail(ErrorCode::unsupported, "history: --state needs --duration-s of at least 0");
  if (*request.duration_s > trace::longest_run_s)
    return fail(ErrorCode::unsupported,
                fmt::format("history: --duration-s {} is more than ten years; give the run time in "
                            "seconds",
                            *request.duration_s));
  Outcome outcome;
  outcome.state = *state;
  outcome.duration = Seconds(*request.duration_s);
  outcome.gpu_util_pct = request.gpu_util_pct;
  outcome.gpu_memory_mib = request.gpu_memory_mib;
  return outcome;
}

/// Facts of a file: whoever wrote it, secrets are not kept.
Result<Facts> facts_of(const ForeignPath& path) {
  if (path.name.empty()) return Facts();
  const auto text = read_file(path, StoreLimits::document_bytes);
  if (!text) return tl::unexpected(text.error());
  auto facts = read_facts_json(*text);
  if (!facts) return fail(facts.error().code, path.name + ": " + facts.error().message);
  return secrets::redacted(*std::move(facts));
}

/// Where it ran and how it ended, as the job file says.
void add_attempt(const JobContext& job, Outcome& outcome) {
  if (job.nodes.empty() && job.state.empty() && job.exit_code.empty()) return;
  Attempt attempt;
  attempt.end = outcome.end;
  if (outcome.end) attempt.start = *outcome.end - outcome.duration;
  attempt.state = outcome.state;
  attempt.word = job.state.substr(0, job.state.find(' '));
  attempt.exit_code = job.exit_code;
  attempt.nodes = fmt::format("{}", fmt::join(job.nodes, ","));
  outcome.attempts = {std::move(attempt)};
}

/// An epilog that runs twice must not change what was recorded first.
Result<void> check_new_end(const JobRecord& record, const FinishRequest& request) {
  if (!record.outcome || request.replace) return {};
  const Outcome& before = *record.outcome;
  const bool same = advisor::state_word(before.state) == request.outcome.state &&
                    before.duration.count() == request.outcome.duration_s;
  if (same) return {};
  return fail(
      ErrorCode::conflict,
      fmt::format("history finish: job '{}' has ended already: {} after {}; --replace "
                  "overwrites that",
                  request.id, advisor::state_word(before.state), in_words(before.duration)));
}

/// The job that ends, by its file and its record. Errors: those of both; conflict.
Result<JobContext> finished_job(Store& store, const FinishRequest& request,
                                const FileAccess& access) {
  JobContext job;
  if (!request.job_file.empty()) {
    auto read = read_job_file({request.job_file, access});
    if (!read) return read;
    job = *std::move(read);
  }
  const auto record = store.get(request.id);
  if (!record) return tl::unexpected(record.error());
  job.job_id = request.id;
  if (!*record) return job;
  if (auto fresh = check_new_end(**record, request); !fresh) return tl::unexpected(fresh.error());
  job.user = (*record)->user;
  return job;
}

}  // namespace

Result<std::vector<JobRecord>> list_jobs(const settings::Session& session, const std::string& user,
                                         std::size_t limit) {
  const auto history = open_for_operator(session, "list");
  if (!history) return tl::unexpected(history.error());
  JobFilter filter;
  if (!user.empty()) filter.user = user;
  filter.limit = limit;
  filter.brief = true;
  return history->store->list(filter);
}

Result<JobRecord> show_job(const settings::Session& session, const std::string& id) {
  const auto history = open_for_operator(session, "show");
  if (!history) return tl::unexpected(history.error());
  auto record = history->store->get(id);
  if (!record) return tl::unexpected(record.error());
  if (*record) return **std::move(record);
  return fail(ErrorCode::not_found,
              fmt::format("no job '{}' in the history (schedmate history list)", printable(id)));
}

Result<void> each_job(const settings::Session& session, const std::string& user,
                      const std::function<void(const JobRecord&)>& visit) {
  const auto history = open_for_operator(session, "export");
  if (!history) return tl::unexpected(history.error());
  JobFilter filter;
  if (!user.empty()) filter.user = user;
  filter.limit = std::numeric_limits<std::size_t>::max();
  return history->store->each(filter, [&](const JobRecord& record) {
    visit(record);
    return true;
  });
}

Result<std::vector<advisor::Calibration>> calibration(const settings::Session& session) {
  const auto history = open_for_operator(session, "calibration");
  if (!history) return tl::unexpected(history.error());
  return advisor::calibrate(*history->store);
}

Document list_document(std::span<const JobRecord> records) {
  Document document = {{"schema", "schedmate.history.v1"}, {"jobs", Document::array()}};
  for (const JobRecord& record : records)
    document["jobs"].push_back(advisor::record_document(record));
  return document;
}

Document calibration_document(std::span<const advisor::Calibration> rows) {
  Document document = {{"schema", "schedmate.calibration.v1"}, {"rows", Document::array()}};
  for (const advisor::Calibration& row : rows) {
    document["rows"].push_back(
        {{"user", row.who.empty() ? Document(nullptr) : Document(row.who)},
         {"jobs", row.jobs},
         {"inside_80_share", as_known(row.inside_share)},
         {"within_100_pct_share", as_known(row.within_100_share)},
         {"p50_over_actual", as_known(row.bias)},
         {"limits", row.limits},
         {"over_limit_share",
          row.limits == 0 ? Document(nullptr) : Document(as_known(row.over_limit_share))}});
  }
  return document;
}

Result<JobRecord> add_job(const settings::Session& session, const AddRequest& request) {
  const auto history = open_history(session);
  if (!history) return tl::unexpected(history.error());
  if (request.user.empty()) return fail(ErrorCode::unsupported, "history add: --user is missing");
  auto job = job_source(request.job);
  if (!job) return tl::unexpected(job.error());
  const auto files = request_files(session);
  if (!files) return tl::unexpected(files.error());
  const auto facts = facts_of({request.facts, files->access});
  if (!facts) return tl::unexpected(facts.error());
  auto outcome = wanted_outcome(request.outcome);
  if (!outcome) return tl::unexpected(outcome.error());
  JobSource known = with_request(*std::move(job), *facts);
  if (facts->find("gpus") == nullptr) known.gpus = std::max(known.gpus, 1);  // as documented
  const Submission submission{secrets::redacted(std::move(known)),
                              request.id,
                              request.user,
                              secrets::redacted(request.branch),
                              request.vc,
                              {},
                              request.submit_s < 0 ? session.clock.wall() : at(request.submit_s)};
  JobRecord record = advisor::make_record(submission, *facts, advisor::FlagRules::built_in());
  record.root = secrets::redacted(record.root);
  record.outcome = std::move(*outcome);
  if (auto done = history->store->put(record); !done) return tl::unexpected(done.error());
  return record;
}

Result<JobRecord> finish_job(const settings::Session& session, const FinishRequest& request) {
  const auto history = open_history(session);
  if (!history) return tl::unexpected(history.error());
  auto outcome = wanted_outcome(request.outcome);
  if (!outcome) return tl::unexpected(outcome.error());
  if (!*outcome) return fail(ErrorCode::unsupported, "history finish: --state STATE is missing");
  Store& store = *history->store;
  const auto files = request_files(session);
  if (!files) return tl::unexpected(files.error());
  auto job = finished_job(store, request, files->access);
  if (!job) return tl::unexpected(job.error());
  (*outcome)->end = end_of(*job);
  add_attempt(*job, **outcome);
  if (!request.log.empty()) {
    auto summary = summarize_log(session, {store, history->role}, request.log, *job);
    if (!summary) return tl::unexpected(summary.error());
    (*outcome)->log_summary = std::move(summary->json);
    (*outcome)->fingerprint = std::move(summary->fingerprint);
  }
  if (auto done = store.finish(request.id, **outcome); !done) return tl::unexpected(done.error());
  auto record = store.get(request.id);
  if (!record) return tl::unexpected(record.error());
  if (!*record)
    return fail(ErrorCode::conflict, request.id + " was deleted by someone else just now");
  return **std::move(record);
}

Result<void> forget_job(const settings::Session& session, const std::string& id) {
  const auto state = open_state(session);
  if (!state) return tl::unexpected(state.error());
  const auto log = log_of_job(*state->store, id);
  if (auto done = state->store->forget(id); !done) return done;
  if (log && *log) ask::forget_index((*log)->path, log_index_folder(session));
  return state->index->refresh();
}

Document finish_document(const JobRecord& record) {
  const auto score = advisor::score_advice(record);
  Document document = {{"schema", "schedmate.finish.v1"}, {"job_id", record.id}};
  document["state"] = advisor::state_word(record.outcome->state);
  document["duration_s"] = record.outcome->duration.count();
  document["advice"] = nullptr;
  if (score) {
    document["advice"] = {{"p10_s", as_known(score->p10.count())},
                          {"p50_s", as_known(score->p50.count())},
                          {"p90_s", as_known(score->p90.count())},
                          {"inside", score->inside},
                          {"p50_over_actual", as_known(std::exp(score->log_ratio))}};
  }
  return document;
}

Document forget_document(const std::string& id) {
  return {{"schema", "schedmate.forget.v1"}, {"job_id", id}};
}

}  // namespace schedmate::service
