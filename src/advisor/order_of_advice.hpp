// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The order of an advice (paper 3.1, Figure 5), over past jobs wherever they are kept:
///   1. earlier submissions of the same job by its user (admission), the nearest relation first;
///   2. without one that ran, similar jobs: vectors find texts, fields decide among their jobs;
///   3. trust in the users of those jobs, the user's own latest runs, how far off past advice was;
///   4. the estimate.

#include <algorithm>
#include <map>
#include <tuple>

#include "advisor/experience.hpp"
#include "advisor/past_advice.hpp"
#include "advisor/past_jobs.hpp"
#include "advisor/similar.hpp"

namespace schedmate::advisor {

/// An earlier submission that the job at hand repeats.
template <class Job>
struct Repeated {
  Job job;
  Verdict verdict;
};

/// Those among the user's latest of this program, by class, then the latest first.
template <PastJobs Jobs>
[[nodiscard]] Result<std::vector<Repeated<typename Jobs::Job>>> repeated_jobs(Jobs& jobs) {
  using Past = Jobs::Job;
  std::vector<Repeated<Past>> repeated;
  const auto done = jobs.of_entry([&]<class Visited>(Visited&& job) {
    Verdict verdict = jobs.verdict_on(job);
    if (verdict.resubmission())
      repeated.push_back({std::forward<Visited>(job), std::move(verdict)});
  });
  if (!done) return tl::unexpected(done.error());
  std::ranges::stable_sort(repeated, {},
                           [](const Repeated<Past>& each) { return each.verdict.relation; });
  return repeated;
}

/// A job like the one at hand.
template <class Job>
struct Similar {
  Job job;
  double score = 0;
};

/// At most options.most, best first, equal ones the latest first.
template <PastJobs Jobs>
[[nodiscard]] Result<std::vector<Similar<typename Jobs::Job>>> similar_jobs(
    Jobs& jobs, const SimilarityOptions& options) {
  using Past = Jobs::Job;
  std::vector<Similar<Past>> found;
  const auto texts = jobs.nearest();
  if (!texts) return tl::unexpected(texts.error());
  for (const SimilarText& text : *texts) {
    const auto done = jobs.of_text(text.text_id, [&]<class Visited>(Visited&& job) {
      if (!has_run(job)) return;
      const Similarity alike = jobs.similarity_to(job);
      const double score =
          options.paper ? text.score : mixed_score(text.score, alike.score, options.similar_cosine);
      if ((options.paper || alike.same_kind) && score >= threshold_of(options))
        found.push_back({std::forward<Visited>(job), score});
    });
    if (!done) return tl::unexpected(done.error());
  }
  const auto kept = static_cast<std::ptrdiff_t>(std::min(found.size(), options.most));
  std::ranges::partial_sort(
      found, found.begin() + kept, std::ranges::greater(),
      [](const Similar<Past>& each) { return std::tuple(each.score, submission_order(each.job)); });
  found.erase(found.begin() + kept, found.end());
  return found;
}

struct OrderOptions {
  const EstimateRow& estimate;
  SimilarityOptions similarity;
  bool admission = true;  ///< earlier submissions of the same job go before similar ones
  /// So many matches alone, the best; else all that were found.
  std::optional<std::size_t> top = std::nullopt;
  /// The owner's questions are answered, too; a scheduler asks none.
  bool answers = false;
};

/// The submission at hand.
template <class User>
struct CurrentSubmission {
  User user;
  std::int64_t gpus = 0;
  SimTime submit;
  std::optional<Seconds> limit = std::nullopt;
  LimitPolicy limits = {};
};

template <PastJobs Jobs>
class OrderOfAdvice {
 public:
  using Job = Jobs::Job;
  using User = decltype(Job::user);
  OrderOfAdvice(Jobs& jobs, const OrderOptions& options) : jobs_(jobs), options_(options) {}

  /// Errors: those of the store. A search that fails takes nothing from the rest of the advice.
  Result<PastAdvice<Job>> run(const CurrentSubmission<User>& ours) {
    PastAdvice<Job> made;
    if (options_.admission)
      if (auto done = admit(made); !done) return tl::unexpected(done.error());
    if (made.matches.empty()) search(made);
    const SimilarityOptions& similarity = options_.similarity;
    if (options_.top && !similarity.paper && made.matches.size() > *options_.top)
      made.matches.erase(made.matches.begin() + static_cast<std::ptrdiff_t>(*options_.top),
                         made.matches.end());
    if (auto done = estimate(ours, made); !done) return tl::unexpected(done.error());
    return made;
  }

 private:
  Result<void> admit(PastAdvice<Job>& made) {
    auto repeated = repeated_jobs(jobs_);
    if (!repeated) return tl::unexpected(repeated.error());
    if (!repeated->empty()) made.rule = repeated->front().verdict.rule;
    for (auto& [job, verdict] : *repeated) {
      if (!has_run(job)) continue;
      PastRun run = past_run(job);
      run.score = similarity(verdict.relation);
      run.scale = verdict.scale;
      made.matches.push_back({std::move(job), std::move(run), std::move(verdict.rule)});
    }
    if (!made.matches.empty()) made.source = AdviceSource::resubmission;
    return {};
  }

  void search(PastAdvice<Job>& made) {
    auto found = similar_jobs(jobs_, options_.similarity);
    if (!found) {
      made.not_searched = found.error().message;
      return;
    }
    for (auto& [job, score] : *found) {
      PastRun run = past_run(job);
      run.score = score;
      if (!options_.similarity.paper) run.scale = jobs_.scale_from(job);
      made.matches.push_back({std::move(job), std::move(run), ""});
    }
    if (!made.matches.empty()) made.source = AdviceSource::similar;
  }

  Result<void> estimate(const CurrentSubmission<User>& ours, PastAdvice<Job>& made) {
    std::map<User, double> trust;
    std::vector<PastRun> matches;
    for (Matched<Job>& each : made.matches) {
      const auto [known, fresh] = trust.try_emplace(each.job.user, 1);
      if (fresh) {
        const auto found = trust_in(jobs_, each.job.user);
        if (!found) return tl::unexpected(found.error());
        known->second = *found;
      }
      each.run.trust = known->second;
      matches.push_back(each.run);
    }
    const auto own = latest_runs(jobs_, ours.user, ours.gpus);
    if (!own) return tl::unexpected(own.error());
    const auto errors = recent_errors(jobs_, ours.user, options_.answers);
    if (!errors) return tl::unexpected(errors.error());
    const EstimateInput input{made.source,
                              matches,
                              *own,
                              errors->residuals,
                              ours.limit,
                              ours.submit,
                              options_.top.value_or(paper::similar_jobs),
                              errors->misses,
                              ours.limits};
    made.estimate = options_.estimate.make(input);
    if (options_.answers) made.answer = options_.estimate.answer(input);
    return {};
  }

  Jobs& jobs_;
  const OrderOptions& options_;
};

}  // namespace schedmate::advisor
