// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "advisor/advisor.hpp"
#include "advisor/record_json.hpp"
#include "base/input.hpp"
#include "core/facts_json.hpp"
#include "service/advisor_state.hpp"
#include "service/history.hpp"
#include "service/log_summary.hpp"
#include "service/redaction.hpp"
#include "trace/values.hpp"

namespace schedmate::service {
namespace {

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
Result<Facts> facts_of(const std::string& path) {
  if (path.empty()) return Facts();
  const auto text = read_file(path, StoreLimits::document_bytes);
  if (!text) return tl::unexpected(text.error());
  auto facts = read_facts_json(*text);
  if (!facts) return fail(facts.error().code, path + ": " + facts.error().message);
  return redacted(*std::move(facts));
}

/// The job that ends, by its file and its record. Errors: those of both.
Result<JobContext> finished_job(Store& store, const FinishRequest& request) {
  JobContext job;
  if (!request.job_file.empty()) {
    auto read = read_job_file(request.job_file);
    if (!read) return read;
    job = *std::move(read);
  }
  const auto record = store.get(request.id);
  if (!record) return tl::unexpected(record.error());
  job.job_id = request.id;
  if (*record) job.user = (*record)->user;
  return job;
}

}  // namespace

Result<JobRecord> add_job(const settings::Session& session, const AddRequest& request) {
  const auto history = open_history(session);
  if (!history) return tl::unexpected(history.error());
  if (request.user.empty()) return fail(ErrorCode::unsupported, "history add: --user is missing");
  auto job = job_source(request.job);
  if (!job) return tl::unexpected(job.error());
  const auto facts = facts_of(request.facts);
  if (!facts) return tl::unexpected(facts.error());
  auto outcome = wanted_outcome(request.outcome);
  if (!outcome) return tl::unexpected(outcome.error());
  const Submission submission{redacted(*std::move(job)),
                              request.id,
                              request.user,
                              request.branch,
                              request.vc,
                              {},
                              request.submit_s < 0 ? session.clock.wall() : at(request.submit_s)};
  JobRecord record = advisor::make_record(submission, *facts, advisor::FlagRules::built_in());
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
  auto job = finished_job(store, request);
  if (!job) return tl::unexpected(job.error());
  (*outcome)->end = end_of(*job);
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
  if (auto done = state->store->forget(id); !done) return done;
  return state->index->refresh();
}

Document finish_document(const JobRecord& record) {
  const auto score = advisor::score_advice(record);
  Document document = {{"schema", "schedmate.finish.v1"}, {"job_id", record.id}};
  document["state"] = advisor::state_word(record.outcome->state);
  document["duration_s"] = record.outcome->duration.count();
  document["advice"] = nullptr;
  if (score) {
    document["advice"] = {{"p10_s", record.advice->p10.count()},
                          {"p50_s", record.advice->p50.count()},
                          {"p90_s", record.advice->p90.count()},
                          {"inside", score->inside},
                          {"p50_over_actual", std::exp(score->log_ratio)}};
  }
  return document;
}

Document forget_document(const std::string& id) {
  return {{"schema", "schedmate.forget.v1"}, {"job_id", id}};
}

}  // namespace schedmate::service
