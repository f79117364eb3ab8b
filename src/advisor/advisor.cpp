// SPDX-License-Identifier: Apache-2.0
#include "advisor/advisor.hpp"

#include <schedmate/paper.hpp>

#include "advisor/known_facts.hpp"
#include "advisor/order_of_advice.hpp"
#include "advisor/past_failures.hpp"
#include "advisor/run_answer.hpp"
#include "advisor/stored_jobs.hpp"

namespace schedmate::advisor {
namespace {

/// A submission, what is known of it, and what it is compared by.
struct AdviceCase {
  const Submission& submission;
  const AdvisorParts& parts;
  const Fields& fields;
  [[nodiscard]] StoredJobs past_jobs(bool unfinished) const {
    return {parts.store, parts.index, {submission, fields, parts.rules, unfinished}};
  }
};

/// When no submission that has ended is repeated, one that still runs or waits may be.
Result<std::string> rule_of_unfinished(const AdviceCase& ours) {
  StoredJobs jobs = ours.past_jobs(true);
  const auto repeated = repeated_jobs(jobs);
  if (!repeated) return tl::unexpected(repeated.error());
  return repeated->empty() ? "no earlier submission of this job by this user"
                           : repeated->front().verdict.rule;
}

/// Of the nearest earlier submission alone: whatever came after it may have fixed others.
Result<std::optional<EarlierFailure>> failure_of(const std::string& id, Store& store) {
  const auto record = store.get(id);
  if (!record) return tl::unexpected(record.error());
  const auto failure = *record ? past_failure(**record) : std::nullopt;
  if (!failure) return std::nullopt;
  const auto same =
      same_failures(store, {failure->job_id, failure->user, failure->fingerprint, failure->ended});
  if (!same) return tl::unexpected(same.error());
  return EarlierFailure{failure->job_id, std::string(name_of(failure->verdict)), failure->reason,
                        failure->fingerprint, 1 + same->size()};
}

std::string why_alike(const AdviceCase& ours, const Matched<JobRecord>& match) {
  return match.rule.empty() ? describe(match_fields(ours.fields, match.job.fields)) : match.rule;
}

/// Of other users' jobs neither id nor what shows whose they are.
std::vector<SimilarJob> shown(const AdviceCase& ours, std::span<const Matched<JobRecord>> matches) {
  std::vector<SimilarJob> similar;
  const Caller caller{ours.submission.user, ours.parts.role};
  for (const auto& match : matches) {
    const PastRun& run = match.run;
    similar.push_back({caller.may_see_jobs_of(run.user) ? run.id : "", run.score,
                       why_alike(ours, match), run.duration, run.state});
  }
  return similar;
}

GivenAdvice given(const AdviceCase& ours, const Estimate& estimate,
                  std::span<const Matched<JobRecord>> matches) {
  GivenAdvice given;
  given.source = name_of(estimate.source);
  given.mean = estimate.mean;
  given.p10 = estimate.p10;
  given.p50 = estimate.p50;
  given.p90 = estimate.p90;
  given.gpu_util_pct = estimate.gpu_util_pct;
  given.gpu_memory_mib = estimate.gpu_memory_mib;
  for (const auto& match : matches)
    given.neighbours.push_back({match.run.id, match.run.score, why_alike(ours, match)});
  return given;
}

GivenLength given(const RunAnswer& answer) {
  return {.source = std::string(name_of(answer.source)),
          .centre = answer.centre,
          .p10 = answer.p10,
          .p50 = answer.p50,
          .p90 = answer.p90,
          .limit = answer.time_limit ? answer.time_limit->suggested : Seconds(0),
          .told = answer.known(),
          .not_known = answer.known() ? "" : why_not_known(answer),
          .risk = answer.time_limit ? answer.time_limit->risk : 0,
          .early_end = answer.early_end,
          .runs_by_state = answer.runs_by_state};
}

/// The part of the advice that stands on past jobs.
Result<GivenAdvice> advise_by_past(const AdviceCase& ours, Advice& advice) {
  const auto& [submission, parts, fields] = ours;
  StoredJobs jobs = ours.past_jobs(false);
  const OrderOptions options{
      .estimate = parts.estimate, .similarity = parts.similarity, .answers = true};
  auto made = OrderOfAdvice(jobs, options)
                  .run({submission.user, submission.job.gpus, submission.submit,
                        submission.time_limit, submission.limits});
  if (!made) return tl::unexpected(made.error());
  if (made->rule.empty()) {
    auto rule = rule_of_unfinished(ours);
    if (!rule) return tl::unexpected(rule.error());
    made->rule = std::move(*rule);
  }
  if (made->source == AdviceSource::resubmission) {
    auto failure = failure_of(made->matches.front().run.id, parts.store);
    if (!failure) return tl::unexpected(failure.error());
    advice.earlier_failure = std::move(*failure);
  }
  if (!made->not_searched.empty()) advice.notes.push_back("similar jobs: " + made->not_searched);
  const std::span best(made->matches.data(), std::min(made->matches.size(), paper::similar_jobs));
  advice.similar = shown(ours, best);
  advice.similar_threshold = threshold_of(parts.similarity);
  advice.rule = std::move(made->rule);
  advice.estimator = parts.estimate.name;
  advice.estimate = std::move(made->estimate);
  advice.answer = std::move(*made->answer);
  advice.would_help = would_help(advice.answer);
  GivenAdvice remembered = given(ours, advice.estimate, best);
  remembered.length = given(advice.answer);
  return remembered;
}

}  // namespace

Result<Advised> advise(const Submission& submission, const AdvisorParts& parts) {
  auto known = know_facts(submission, parts);
  if (!known) return tl::unexpected(known.error());
  Advised advised;
  Advice& advice = advised.advice;
  advice.facts = std::move(known->facts);
  advice.facts_remembered = known->remembered;
  advice.previous = std::move(known->previous);
  advice.changes = std::move(known->changes);
  advice.notes = std::move(known->notes);
  advised.closure = std::move(known->closure);
  advised.record = make_record(submission, advice.facts, parts.rules);
  advised.record.closure = advised.closure.hash;
  if (!known->commit.empty()) advised.record.fields["git_commit"] = known->commit;
  auto given = advise_by_past({submission, parts, advised.record.fields}, advice);
  if (!given) return tl::unexpected(given.error());
  advised.record.advice = std::move(*given);
  return advised;
}

Result<void> remember(const Advised& advised, const AdvisorParts& parts) {
  // The closure first: a record without its files is only slower, and a kill in between harmless.
  if (auto done = keep_closure(parts.store, advised.record.root, advised.closure); !done)
    return done;
  return parts.store.put(advised.record);
}

}  // namespace schedmate::advisor
