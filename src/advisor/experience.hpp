// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What past jobs teach about advice itself: how far off it was, and whose jobs outlast theirs.

#include "advisor/past_jobs.hpp"

namespace schedmate::advisor {

/// How far back it is looked.
namespace experience {
inline constexpr std::size_t own_errors = 200;
inline constexpr std::size_t all_errors = 200;
inline constexpr std::size_t latest_jobs = 40;  ///< of a user
}  // namespace experience

/// Trust in a user of whose `jobs` that had advice so many outlasted its 90 % mark: 1 when they do
/// so as often as they should (one in ten) or less, down to 0.1. Users without a past have 1.
[[nodiscard]] double trust_after(std::size_t overruns, std::size_t jobs);

template <PastJobs Jobs, class User>
[[nodiscard]] Result<double> trust_in(Jobs& jobs, const User& user) {
  std::size_t overruns = 0;
  std::size_t advised = 0;
  const auto done = jobs.of_user(user, experience::latest_jobs, [&](const auto& job) {
    if (!residual_of(job)) return;
    ++advised;
    if (outlasted(job)) ++overruns;
  });
  if (!done) return tl::unexpected(done.error());
  return trust_after(overruns, advised);
}

/// The user's latest runs, newest first; those with as many GPUs alone, when there are some.
template <PastJobs Jobs, class User>
[[nodiscard]] Result<std::vector<PastRun>> latest_runs(Jobs& jobs, const User& user,
                                                       std::int64_t gpus) {
  std::vector<PastRun> all;
  std::vector<PastRun> alike;
  const auto done = jobs.of_user(user, experience::latest_jobs, [&](const auto& job) {
    if (!has_run(job)) return;
    if (job.gpus == gpus) alike.push_back(past_run(job));
    if (alike.empty()) all.push_back(past_run(job));
  });
  if (!done) return tl::unexpected(done.error());
  return alike.empty() ? std::move(all) : std::move(alike);
}

/// The latest errors, those of the user and those of everybody else, each newest first.
template <PastJobs Jobs, class User>
[[nodiscard]] Result<std::vector<Residual>> recent_residuals(Jobs& jobs, const User& user) {
  std::vector<Residual> residuals;
  const auto add = [&](const auto& job, bool same_user) {
    auto residual = residual_of(job);
    if (!residual) return;
    residual->same_user = same_user;
    residuals.push_back(*residual);
  };
  if (auto done =
          jobs.of_user(user, experience::own_errors, [&](const auto& job) { add(job, true); });
      !done)
    return tl::unexpected(done.error());
  const auto add_other = [&](const auto& job) {
    if (job.user != user) add(job, false);
  };
  if (auto done = jobs.of_all(experience::all_errors, add_other); !done)
    return tl::unexpected(done.error());
  return residuals;
}

}  // namespace schedmate::advisor
