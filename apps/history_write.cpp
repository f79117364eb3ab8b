// SPDX-License-Identifier: Apache-2.0

/// Actions that change the history: add, finish, forget.

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "advisor/advisor.hpp"
#include "advisor/calibration.hpp"
#include "advisor/record_json.hpp"
#include "apps/history_actions.hpp"
#include "apps/log_summary.hpp"
#include "apps/wall_clock.hpp"
#include "apps/words.hpp"
#include "base/input.hpp"
#include "core/facts_json.hpp"
#include "tree/redact.hpp"

namespace schedmate {
namespace {

/// An outcome as the flags say it; nothing when they say none.
Result<std::optional<Outcome>> outcome_of(const HistoryRequest& request) {
  if (request.state.empty() && !request.duration_s) return std::nullopt;
  if (request.state.empty())
    return fail(ErrorCode::unsupported, "history: --duration-s needs --state STATE");
  const auto state = read_state(request.state);
  if (!state) return tl::unexpected(state.error());
  if (!request.duration_s || *request.duration_s < 0)
    return fail(ErrorCode::unsupported, "history: --state needs --duration-s from 0 on");
  Outcome outcome;
  outcome.state = *state;
  outcome.duration = Seconds(*request.duration_s);
  outcome.gpu_util_pct = request.gpu_util_pct;
  outcome.gpu_memory_mib = request.gpu_memory_mib;
  return outcome;
}

void redact_fact(Fact& fact) {
  if (auto* text = std::get_if<std::string>(&fact.value)) *text = redact(*text);
  for (Evidence& line : fact.evidence) line.text = redact(line.text);
}

/// Facts of a file: whoever wrote it, secrets are not kept.
Result<Facts> facts_of(const std::string& path) {
  if (path.empty()) return Facts();
  const auto text = read_file(path, StoreLimits::document_bytes);
  if (!text) return tl::unexpected(text.error());
  auto facts = read_facts_json(*text);
  if (!facts) return fail(facts.error().code, path + ": " + facts.error().message);
  for (auto* group : {&facts->facts, &facts->extra})
    for (auto& [name, fact] : *group) redact_fact(fact);
  for (std::string& note : facts->degraded) note = redact(note);
  facts->expect_reason = redact(facts->expect_reason);
  return facts;
}

/// The job that ends, by its file and its record. Errors: those of both.
Result<JobContext> finished_job(const HistoryCall& call) {
  JobContext job;
  if (!call.request.job_file.empty()) {
    auto read = read_job_file(call.request.job_file);
    if (!read) return read;
    job = *std::move(read);
  }
  const auto record = call.state.store->get(call.request.subject);
  if (!record) return tl::unexpected(record.error());
  job.job_id = call.request.subject;
  if (*record) job.user = (*record)->user;
  return job;
}

/// How the advice came out, beside the outcome.
void tell(const JobRecord& record, bool json) {
  const auto score = score_advice(record);
  if (json) {
    nlohmann::ordered_json document = {{"schema", "schedmate.finish.v1"}, {"job_id", record.id}};
    document["state"] = state_word(record.outcome->state);
    document["duration_s"] = record.outcome->duration.count();
    document["advice"] = nullptr;
    if (score) {
      document["advice"] = {{"p10_s", record.advice->p10.count()},
                            {"p50_s", record.advice->p50.count()},
                            {"p90_s", record.advice->p90.count()},
                            {"inside", score->inside},
                            {"p50_over_actual", std::exp(score->log_ratio)}};
    }
    fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return;
  }
  fmt::print("{}: {} after {}{}\n", printable(record.id), state_word(record.outcome->state),
             in_words(record.outcome->duration),
             !score ? std::string()
                    : fmt::format("; advised {}, {} the interval",
                                  in_words(Seconds(std::llround(record.advice->p50.count()))),
                                  score->inside ? "inside" : "outside"));
}

}  // namespace

Result<void> history_add(const HistoryCall& call) {
  const HistoryRequest& request = call.request;
  if (request.user.empty()) return fail(ErrorCode::unsupported, "history add: --user is missing");
  auto job = job_source(request.job);
  if (!job) return tl::unexpected(job.error());
  job->command = redact(job->command);
  const auto facts = facts_of(request.facts);
  if (!facts) return tl::unexpected(facts.error());
  auto outcome = outcome_of(request);
  if (!outcome) return tl::unexpected(outcome.error());
  const Submission submission{std::move(*job),
                              request.subject,
                              request.user,
                              request.branch,
                              request.vc,
                              {},
                              request.submit_s < 0 ? wall_clock() : at(request.submit_s)};
  JobRecord record = make_record(submission, *facts, FlagRules::built_in());
  record.outcome = std::move(*outcome);
  if (auto done = call.state.store->put(record); !done) return done;
  if (call.session.json)
    fmt::print("{}\n", record_json(record, true));
  else
    fmt::print("added {}\n", printable(record.id));
  return {};
}

Result<void> history_finish(const HistoryCall& call) {
  auto outcome = outcome_of(call.request);
  if (!outcome) return tl::unexpected(outcome.error());
  if (!*outcome) return fail(ErrorCode::unsupported, "history finish: --state STATE is missing");
  auto job = finished_job(call);
  if (!job) return tl::unexpected(job.error());
  (*outcome)->end = end_of(*job);
  if (!call.request.job.log.empty()) {
    auto summary = summarize_log(call.session, {*call.state.store, call.state.is_operator},
                                 call.request.job.log, *job);
    if (!summary) return tl::unexpected(summary.error());
    (*outcome)->log_summary = std::move(summary->json);
    (*outcome)->fingerprint = std::move(summary->fingerprint);
  }
  if (auto done = call.state.store->finish(call.request.subject, **outcome); !done) return done;
  const auto record = call.state.store->get(call.request.subject);
  if (!record) return tl::unexpected(record.error());
  if (*record) tell(**record, call.session.json);
  return {};
}

Result<void> history_forget(const HistoryCall& call) {
  if (auto done = call.state.store->forget(call.request.subject); !done) return done;
  if (auto done = call.state.index->refresh(); !done) return done;
  if (call.session.json) {
    const nlohmann::ordered_json document = {{"schema", "schedmate.forget.v1"},
                                             {"job_id", call.request.subject}};
    fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    fmt::print("forgot {}\n", printable(call.request.subject));
  }
  return {};
}

}  // namespace schedmate
