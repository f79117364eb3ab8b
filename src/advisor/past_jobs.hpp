// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Past jobs as the order of an advice (order_of_advice.hpp) sees them, from one job at hand. Two
/// kinds are there: StoredJobs over a Store with its index, ReplayedJobs over what a replay has
/// seen end. A template and no virtual function: a replay asks for a million advices, each of which
/// looks at some hundred jobs.

#include <concepts>
#include <schedmate/advice.hpp>
#include <schedmate/search.hpp>
#include <vector>

#include "advisor/admission.hpp"
#include "advisor/match.hpp"

namespace schedmate::advisor {

/// A job that has ended. Members `user` (compared and ordered) and `gpus`, and functions beside it.
template <class Job>
concept PastJob = std::movable<Job> && requires(const Job& job) {
  { job.user } -> std::totally_ordered;
  { job.gpus } -> std::totally_ordered;
  /// Its end counts as a run; one that does not still counts for the limits.
  { has_run(job) } -> std::same_as<bool>;
  /// With score, scale and trust 1. Only of a job that has_run().
  { past_run(job) } -> std::same_as<PastRun>;
  /// How its advice came out; nothing when it got none or has no run.
  { residual_of(job) } -> std::same_as<std::optional<Residual>>;
  /// How the answer about its length came out; nothing when there was none, or when it ended by
  /// itself before it could complete.
  { length_miss(job) } -> std::same_as<std::optional<LengthMiss>>;
  /// It ran for longer than the p90 of its advice. Only of a job with a residual.
  { outlasted(job) } -> std::same_as<bool>;
  /// Greater for a job that was submitted later; no two jobs have the same.
  { submission_order(job) } -> std::totally_ordered;
};

/// Each of the functions with a visitor calls it with jobs that have ended, the latest submission
/// first, at most so many. Errors: those of the store and the embedder.
template <class Jobs>
concept PastJobs =
    PastJob<typename Jobs::Job> &&
    requires(Jobs jobs, const typename Jobs::Job& job, void (*visit)(const typename Jobs::Job&)) {
      /// Submissions of the program at hand by its user: submissions_of_an_entry.
      { jobs.of_entry(visit) } -> std::same_as<Result<void>>;
      /// Texts like the one at hand: nearest_texts, best first.
      { jobs.nearest() } -> std::same_as<Result<std::vector<SimilarText>>>;
      /// Jobs with such a text, without the one at hand: jobs_of_a_text.
      { jobs.of_text(std::uint64_t{}, visit) } -> std::same_as<Result<void>>;
      { jobs.of_user(job.user, std::size_t{}, visit) } -> std::same_as<Result<void>>;
      { jobs.of_all(std::size_t{}, visit) } -> std::same_as<Result<void>>;
      /// The job at hand against an earlier submission of its program by its user.
      { jobs.verdict_on(job) } -> std::same_as<Verdict>;
      { jobs.similarity_to(job) } -> std::same_as<Similarity>;
      /// Its duration times this is that of the job at hand, by their fields.
      { jobs.scale_from(job) } -> std::same_as<double>;
    };

}  // namespace schedmate::advisor
