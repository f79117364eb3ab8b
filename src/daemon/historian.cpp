// SPDX-License-Identifier: Apache-2.0
#include "daemon/historian.hpp"

#include <algorithm>
#include <utility>

#include "core/facts_json.hpp"
#include "daemon/findings.hpp"
#include "service/advise.hpp"
#include "service/redaction.hpp"

namespace schedmate::daemon {
namespace {

/// Of a job that was never advised.
JobRecord record_of(const SeenJob& job) {
  JobRecord record;
  record.id = job.id;
  record.user = job.user;
  record.vc = job.partition;
  record.submit = job.submitted;
  record.root = service::redacted(job.dir);
  record.command = service::redacted(job.command);
  record.gpus = job.gpus;
  record.nodes = std::ssize(job.nodes);
  record.name = service::redacted(job.name);
  record.log = job.output;
  if (job.limit > Seconds(0)) record.time_limit = job.limit;
  return record;
}

Outcome outcome_of(const Ended& end) {
  const auto& [job, life, use] = end;
  Outcome outcome;
  outcome.state = job.end_state;
  outcome.start = job.started;
  outcome.end = job.ended;
  if (job.started && job.ended) outcome.duration = std::max(Seconds(0), *job.ended - *job.started);
  if (use) {
    outcome.gpu_util_pct = use->gpu_pct_mean;
    outcome.gpu_memory_mib = use->memory_mib_max;
  }
  if (!life) return outcome;
  if (life->cause) outcome.fingerprint = life->cause->fingerprint;
  for (const live::Life::Point& each : life->points)
    outcome.progress.push_back({each.when - job.started.value_or(each.when), each.step, each.loss});
  return outcome;
}

}  // namespace

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
  auto facts = read_facts_json(in_one_line(document));
  if (!facts) return tl::unexpected(facts.error());
  service::AdviseRequest request;
  request.job.root = job.dir;
  request.job.command = job.command;
  if (job.gpus > 0) request.job.gpus = job.gpus;
  request.user = job.user;
  request.vc = job.partition;
  request.id = job.id;
  request.time_limit_s = job.limit.count();
  request.submit_s = std::max<std::int64_t>(0, seconds_of(job.submitted));
  request.record = true;
  auto advice =
      service::advise_on(session_, **state, request, service::redacted(*std::move(facts)));
  if (!advice) return tl::unexpected(advice.error());
  if (auto kept = record_alike(alike); !kept) return tl::unexpected(kept.error());
  return code_found(*advice);
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
    record.submit = std::max(SimTime(), job.submitted);
  }
  return store.put_many(records);
}

Result<void> Historian::remember(const Ended& end) {
  const SeenJob& job = end.job;
  const auto state = this->state();
  if (!state) return tl::unexpected(state.error());
  Store& store = *(*state)->store;
  const auto known = store.get(job.id);
  if (!known) return tl::unexpected(known.error());
  if (!*known)
    if (auto put = store.put(record_of(job)); !put) return put;
  return store.finish(job.id, outcome_of(end));
}

}  // namespace schedmate::daemon
