// SPDX-License-Identifier: Apache-2.0
#include "advisor/stored_jobs.hpp"

#include <algorithm>

#include "advisor/estimates.hpp"
#include "advisor/run_answer.hpp"
#include "advisor/scaling.hpp"

namespace schedmate {
namespace {

AdviceSource source_of(std::string_view name) {
  for (const AdviceSource each :
       {AdviceSource::resubmission, AdviceSource::similar, AdviceSource::user_history})
    if (name_of(each) == name) return each;
  return AdviceSource::none;
}

Seconds duration_of(const JobRecord& record) {
  return std::max(Seconds(0), record.outcome->duration);
}

}  // namespace

bool has_run(const JobRecord& record) {
  return record.outcome && record.outcome->state != EndState::unknown;
}

PastRun past_run(const JobRecord& record) {
  PastRun run;
  run.id = record.id;
  run.user = record.user;
  run.submit = record.submit;
  run.state = record.outcome->state;
  run.duration = duration_of(record);
  run.gpu_util_pct = record.outcome->gpu_util_pct;
  run.gpu_memory_mib = record.outcome->gpu_memory_mib;
  return run;
}

std::optional<Residual> residual_of(const JobRecord& record) {
  if (!has_run(record) || !record.advice) return std::nullopt;
  const AdviceSource source = source_of(record.advice->source);
  if (source == AdviceSource::none) return std::nullopt;
  return Residual{advisor::log_of(duration_of(record)) - advisor::log_of(record.advice->p50),
                  source, false};
}

std::optional<LengthMiss> length_miss(const JobRecord& record) {
  if (!has_run(record) || !record.advice || !record.advice->length) return std::nullopt;
  const GivenLength& given = *record.advice->length;
  return advisor::miss_of({source_of(given.source), advisor::log_of(given.centre)},
                          record.outcome->state, duration_of(record));
}

bool outlasted(const JobRecord& record) {
  return FractionalSeconds(record.outcome->duration) > record.advice->p90;
}

}  // namespace schedmate

namespace schedmate::advisor {

static_assert(PastJobs<StoredJobs>);

JobFilter StoredJobs::entry_filter() const {
  const JobSource& job = ours_.submission.job;
  const std::string folder = folder_of(job.root, job.workdir);
  return {.user = ours_.submission.user,
          .entry = read_command_flags(job.command, ours_.rules, folder).entry,
          .limit = submissions_of_an_entry};
}

Result<std::vector<SimilarText>> StoredJobs::nearest() {
  const std::string text = embedding_text(ours_.fields);
  if (text.empty()) return {};
  if (auto done = index_.refresh(); !done) return tl::unexpected(done.error());
  return index_.nearest(text, nearest_texts);
}

Verdict StoredJobs::verdict_on(const JobRecord& earlier) const {
  return judge({ours_.submission, &ours_.fields, earlier}, ours_.rules);
}

Similarity StoredJobs::similarity_to(const JobRecord& earlier) const {
  return similarity(row_, FieldRow(earlier.fields));
}

double StoredJobs::scale_from(const JobRecord& earlier) const {
  return scale_between(ours_.fields, earlier.fields).factor;
}

}  // namespace schedmate::advisor
