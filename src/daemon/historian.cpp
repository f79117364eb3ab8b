// SPDX-License-Identifier: Apache-2.0
#include "daemon/historian.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "advisor/advice_document.hpp"
#include "base/json.hpp"
#include "core/facts_json.hpp"
#include "daemon/findings.hpp"
#include "daemon/life_document.hpp"
#include "daemon/readings.hpp"
#include "secrets/outgoing.hpp"
#include "store/admit.hpp"

namespace schedmate::daemon {
namespace {

/// Of a job that was never advised.
JobRecord record_of(const SeenJob& job) {
  JobRecord record;
  record.id = job.id;
  record.user = job.user;
  record.vc = job.partition;
  record.submit = submission_on_record(job);
  record.root = secrets::redacted(job.dir);
  record.command = secrets::redacted(job.command);
  record.gpus = job.gpus;
  record.nodes = std::ssize(job.nodes);
  record.name = secrets::redacted(job.name);
  record.log = job.output;
  if (job.limit > Seconds(0)) record.time_limit = job.limit;
  return record;
}

Attempt attempt_of(const live::PastRun& run) {
  Attempt attempt{.start = run.started,
                  .end = run.ended,
                  .state = run.end_state,
                  .word = "",
                  .exit_code = "",
                  .nodes = ""};
  for (const NodeGpus& each : run.nodes)
    attempt.nodes += (attempt.nodes.empty() ? "" : ",") + each.node;
  return attempt;
}

/// As `history finish --log` keeps it (service/log_summary.hpp); "": its log was not read.
std::string log_summary_of(const SeenJob& job, const live::Life& life) {
  constexpr std::size_t longest = std::size_t{64} << 10U;
  if (!life.log && !life.cause) return "";
  const auto path = log_path_of(job);
  Document summary{{"log", path ? Document(secrets::redacted(*path)) : Document(nullptr)},
                   {"job", nullptr},
                   {"progress", nullptr},
                   {"diagnosis", nullptr}};
  if (life.log)
    summary["progress"] = {{"step", or_null<Document>(life.log->step)},
                           {"total_steps", or_null<Document>(life.log->total_steps)},
                           {"loss", as_known_or_null<Document>(life.log->loss)},
                           {"step_time_s", as_known_or_null<Document>(life.log->step_time_s)}};
  if (life.cause && life.cause->document.size() <= longest)
    summary["diagnosis"] = diagnosis_document(*life.cause);
  return in_one_line(summary);
}

Outcome outcome_of(const Ended& end) {
  const auto& [job, earlier, life, use, is_old] = end;
  Outcome outcome;
  outcome.state = job.end_state;
  outcome.start = job.started;
  outcome.end = job.ended;
  if (job.started && job.ended) outcome.duration = std::max(Seconds(0), *job.ended - *job.started);
  if (use) {
    outcome.gpu_util_pct = use->gpu_pct_mean;
    outcome.gpu_memory_mib = use->memory_mib_max;
  }
  for (const live::PastRun& run : earlier) outcome.attempts.push_back(attempt_of(run));
  outcome.attempts.push_back(
      attempt_of({job.restarts, job.started, job.ended, job.end_state, job.nodes}));
  if (job.exit_code != 0 || job.exit_signal != 0)
    outcome.attempts.back().exit_code = fmt::format("{}:{}", job.exit_code, job.exit_signal);
  if (!life) return outcome;
  outcome.log_summary = log_summary_of(job, *life);
  if (life->cause) outcome.fingerprint = life->cause->fingerprint;
  for (const live::Life::Point& each : life->points)
    outcome.progress.push_back({each.when - job.started.value_or(each.when), each.step, each.loss});
  return outcome;
}

/// What is on record stays as it is.
bool stays(const JobRecord& known, const EndRecord& end) {
  const bool is_late = end.is_old || end.place > 0;
  if (known.submit != end.record.submit) return is_late && known.submit > end.record.submit;
  if (!known.outcome) return false;
  if (end.is_old) return true;
  const Outcome& fresh = *end.record.outcome;
  const bool says_less = fresh.log_summary.empty() && !known.outcome->log_summary.empty();
  return is_late &&
         (known.outcome->end > fresh.end || (known.outcome->end == fresh.end && says_less));
}

}  // namespace

SimTime submission_on_record(const SeenJob& job) { return std::max(SimTime(), job.submitted); }

Result<const service::AdvisorState*> Historian::state() {
  if (!state_) {
    auto opened = service::open_state(session_);
    if (!opened) return tl::unexpected(opened.error());
    state_ = std::move(*opened);
  }
  return &*state_;
}

Result<live::CodeFound> Historian::advise(std::span<const SeenJob> alike,
                                          const Document& document) {
  const SeenJob& job = alike.front();
  const auto state = this->state();
  if (!state) return tl::unexpected(state.error());
  auto facts = read_facts_document(document);
  if (!facts) return tl::unexpected(facts.error());
  service::AdviseRequest request;
  request.job.root = job.dir;
  request.job.command = job.command;
  if (job.gpus > 0) request.job.gpus = job.gpus;
  request.user = job.user;
  request.vc = job.partition;
  request.id = job.id;
  request.name = job.name;
  request.log = job.output;
  request.time_limit_s = job.limit.count();
  request.submit_s = seconds_of(submission_on_record(job));
  request.record = true;
  const auto end = end_of(job);
  if (!end) return tl::unexpected(end.error());
  auto advice =
      service::advise_on(session_, **state, request, secrets::redacted(*std::move(facts)));
  if (!advice) return tl::unexpected(advice.error());
  if (*end)
    if (auto done = (*state)->store->finish(job.id, **end); !done)
      return tl::unexpected(done.error());
  if (auto kept = record_alike(alike); !kept) return tl::unexpected(kept.error());
  return code_found(*advice);
}

Result<Document> Historian::advise(const service::AdviseRequest& request,
                                   const Document& document) {
  auto facts = read_facts_document(document);
  if (!facts) return tl::unexpected(facts.error());
  facts->wall_ms = 0;  // equal questions have equal answers
  return state()
      .and_then([&](const service::AdvisorState* state) {
        return service::advise_on(session_, *state, request, secrets::redacted(*std::move(facts)));
      })
      .map(advisor::advice_document)
      .map_error([](Error error) {  // whatever is wrong with the history, the request is right
        if (error.code == ErrorCode::unsupported) return error;
        return Error{ErrorCode::unavailable, "the history cannot be read: " + error.message};
      });
}

/// As the first of them is on record, by that time.
Result<void> Historian::record_alike(std::span<const SeenJob> alike) {
  if (alike.size() == 1) return {};
  Store& store = *(*state())->store;
  const auto first = store.get(alike.front().id);
  if (!first) return tl::unexpected(first.error());
  if (!*first) return {};
  std::vector<JobRecord> records;
  for (const SeenJob& job : alike.subspan(1)) {
    JobRecord& record = records.emplace_back(**first);
    record.id = job.id;
    record.submit = submission_on_record(job);
    auto end = end_of(job);
    if (!end) return tl::unexpected(end.error());
    record.outcome = std::move(*end);
  }
  return store.put_many(records);
}

Result<std::optional<Outcome>> Historian::end_of(const SeenJob& job) {
  if (!ended_.contains(job.id)) return std::nullopt;
  const auto known = (*state())->store->get(job.id);
  if (!known) return tl::unexpected(known.error());
  const bool is_it = *known && (*known)->submit == submission_on_record(job);
  return is_it ? (*known)->outcome : std::nullopt;
}

Result<EndRecord> Historian::end_record(const Ended& end) {
  JobRecord record = record_of(end.job);
  record.outcome = outcome_of(end);
  return store::admit(record).map([&](JobRecord admitted) {
    return EndRecord{.record = std::move(admitted), .is_old = end.is_old};
  });
}

/// Those that were never advised come in one transaction: there may be very many.
Result<void> Historian::keep(std::span<const EndRecord> ends) {
  const auto state = this->state();
  if (!state) return tl::unexpected(state.error());
  Store& store = *(*state)->store;
  std::map<std::string, JobRecord> fresh;
  constexpr std::size_t most_ended = 20'000;
  if (ended_.size() > most_ended) ended_.clear();
  for (const EndRecord& end : ends) {
    const JobRecord& record = end.record;
    if (!record.root.empty()) ended_.insert(record.id);  // it may be advised on yet
    const auto known = store.get(record.id);
    if (!known) return tl::unexpected(known.error());
    if (*known && stays(**known, end)) continue;
    const auto twice = fresh.find(record.id);
    if (twice != fresh.end() && stays(twice->second, end)) continue;
    if (*known && (*known)->submit == record.submit) {
      if (auto done = store.finish(record.id, *record.outcome); !done) return done;
    } else {
      fresh[record.id] = record;
    }
  }
  std::vector<JobRecord> records;
  for (auto& [id, record] : fresh) records.push_back(std::move(record));
  return records.empty() ? Result<void>() : store.put_many(records);
}

}  // namespace schedmate::daemon
