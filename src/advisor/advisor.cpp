// SPDX-License-Identifier: Apache-2.0
#include "advisor/advisor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <schedmate/paper.hpp>

#include "advisor/admission.hpp"
#include "advisor/experience.hpp"
#include "advisor/known_facts.hpp"
#include "advisor/past_failures.hpp"
#include "advisor/scaling.hpp"

namespace schedmate {
namespace {

/// How much an earlier submission says of this one, by how it relates to it.
/// An earlier job as the estimate and the reader see it.
struct Shown {
  PastRun run;
  std::string why;
};

class Advising {
 public:
  Advising(const Submission& submission, const AdvisorParts& parts)
      : submission_(submission), parts_(parts), trust_(parts.store) {}

  Result<Advised> run() {
    auto known = know_facts(submission_, parts_);
    if (!known) return tl::unexpected(known.error());
    Advised advised;
    Advice& advice = advised.advice;
    advice.facts = std::move(known->facts);
    advice.facts_remembered = known->remembered;
    advice.previous = std::move(known->previous);
    advice.changes = std::move(known->changes);
    advice.notes = std::move(known->notes);
    advised.closure = std::move(known->closure);
    advised.record = make_record(submission_, advice.facts, parts_.rules);
    advised.record.closure = advised.closure.hash;
    if (!known->commit.empty()) advised.record.fields["git_commit"] = known->commit;
    if (auto done = find_matches(advised.record.fields, advice); !done)
      return tl::unexpected(done.error());
    if (auto done = estimate(advice); !done) return tl::unexpected(done.error());
    advised.record.advice = given(advice);
    return advised;
  }

 private:
  /// Earlier submissions of the same job that have ended, else similar jobs.
  Result<void> find_matches(const Fields& fields, Advice& advice) {
    advice.similar_threshold = threshold_of(parts_.similarity);
    auto repeated = find_repeated(parts_.store, submission_, &fields, parts_.rules);
    if (!repeated) return tl::unexpected(repeated.error());
    advice.rule = repeated->empty() ? "no earlier submission of this job by this user"
                                    : repeated->front().verdict.rule;
    for (const Repeated& each : *repeated)
      if (auto run = past_run(each.record)) {
        run->score = likeness(each.verdict.relation);
        run->scale = each.verdict.scale;
        shown_.push_back({std::move(*run), each.verdict.rule});
      }
    if (!shown_.empty()) {
      source_ = AdviceSource::resubmission;
      return tell_failure(advice);
    }
    return find_alike(fields, advice);
  }

  /// Of the nearest earlier submission alone: whatever came after it may have mended others.
  Result<void> tell_failure(Advice& advice) {
    const auto record = parts_.store.get(shown_.front().run.id);
    if (!record) return tl::unexpected(record.error());
    const auto failure = *record ? past_failure(**record) : std::nullopt;
    if (!failure) return {};
    const auto same = same_failures(
        parts_.store, {failure->job_id, failure->user, failure->fingerprint, failure->ended});
    if (!same) return tl::unexpected(same.error());
    advice.earlier_failure =
        EarlierFailure{failure->job_id, std::string(name_of(failure->verdict)), failure->reason,
                       failure->fingerprint, 1 + same->size()};
    return {};
  }

  Result<void> find_alike(const Fields& fields, Advice& advice) {
    auto found =
        find_similar({parts_.store, parts_.index, fields, submission_.id}, parts_.similarity);
    if (!found) {
      // An embedding server that does not answer takes nothing from the rest of the advice.
      advice.notes.push_back("similar jobs: " + found.error().message);
      return {};
    }
    for (const FoundJob& each : *found) {
      auto run = past_run(each.record);
      if (!run) continue;
      run->score = each.score;
      run->scale = parts_.similarity.paper ? 1 : scale_between(fields, each.record.fields).factor;
      shown_.push_back({std::move(*run), describe(each.match)});
    }
    if (!shown_.empty()) source_ = AdviceSource::similar;
    return {};
  }

  Result<void> estimate(Advice& advice) {
    std::vector<PastRun> matches;
    for (Shown& each : shown_) {
      const auto trust = trust_.of(each.run.user);
      if (!trust) return tl::unexpected(trust.error());
      each.run.trust = *trust;
      matches.push_back(each.run);
    }
    const auto own = latest_runs(parts_.store, submission_.user, submission_.job.gpus);
    if (!own) return tl::unexpected(own.error());
    const auto residuals = recent_residuals(parts_.store, submission_.user);
    if (!residuals) return tl::unexpected(residuals.error());
    advice.estimator = parts_.estimate.name;
    advice.estimate = parts_.estimate.make(
        {source_, matches, *own, *residuals, submission_.time_limit, submission_.submit});
    show(advice);
    return {};
  }

  /// Of other users' jobs neither id nor what tells whose they are.
  void show(Advice& advice) const {
    for (const Shown& each : shown_) {
      if (advice.similar.size() == paper::similar_jobs) return;
      const bool may_see = parts_.is_operator || each.run.user == submission_.user;
      advice.similar.push_back({may_see ? each.run.id : "", each.run.score, each.why,
                                each.run.duration, each.run.state});
    }
  }

  [[nodiscard]] GivenAdvice given(const Advice& advice) const {
    const Estimate& estimate = advice.estimate;
    GivenAdvice given;
    given.source = name_of(estimate.source);
    given.mean = estimate.mean;
    given.p10 = estimate.p10;
    given.p50 = estimate.p50;
    given.p90 = estimate.p90;
    given.gpu_util_pct = estimate.gpu_util_pct;
    given.gpu_memory_mib = estimate.gpu_memory_mib;
    for (const Shown& each : shown_)
      if (given.neighbours.size() < paper::similar_jobs)
        given.neighbours.push_back({each.run.id, each.run.score});
    return given;
  }

  const Submission& submission_;
  const AdvisorParts& parts_;
  Trust trust_;
  AdviceSource source_ = AdviceSource::none;
  std::vector<Shown> shown_;  ///< best first
};

}  // namespace

Result<Advised> advise(const Submission& submission, const AdvisorParts& parts) {
  return Advising(submission, parts).run();
}

Result<void> remember(const Advised& advised, const AdvisorParts& parts) {
  // The closure first: a record without its files is only slower, and a kill in between harmless.
  if (auto done = keep_closure(parts.store, advised.record.root, advised.closure); !done)
    return done;
  return parts.store.put(advised.record);
}

}  // namespace schedmate
