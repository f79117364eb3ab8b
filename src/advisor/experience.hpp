// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What past jobs teach about advice itself: how far off it was, and whose jobs outlast theirs.

#include <map>
#include <utility>

#include "advisor/past_jobs.hpp"

namespace schedmate::advisor {

/// How far back it is looked.
namespace experience {
inline constexpr std::size_t errors = 200;  ///< of the user, and of all
/// The same for answers about lengths: a burst of like jobs fills 200 (docs/decisions/0022).
inline constexpr std::size_t misses = 2000;
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

/// How far off past advice was, that of the user and that of everybody else, each newest first.
struct Errors {
  std::vector<Residual> residuals;
  std::vector<LengthMiss> misses;  ///< empty unless they are asked for
};

template <PastJobs Jobs, class User>
[[nodiscard]] Result<Errors> recent_errors(Jobs& jobs, const User& user, bool lengths) {
  Errors errors;
  std::map<std::pair<User, double>, double> alike;
  std::vector<User> whose;
  const std::size_t looked_at = lengths ? experience::misses : experience::errors;
  std::size_t seen = 0;
  const auto add = [&](const auto& job, bool same_user) {
    if (seen++ < experience::errors)
      if (auto residual = residual_of(job)) {
        residual->same_user = same_user;
        errors.residuals.push_back(*residual);
      }
    auto miss = lengths ? length_miss(job) : std::nullopt;
    if (!miss) return;
    miss->same_user = same_user;
    errors.misses.push_back(*miss);
    whose.push_back(job.user);
    ++alike[{job.user, miss->log_centre}];
  };
  if (auto done = jobs.of_user(user, looked_at, [&](const auto& job) { add(job, true); }); !done)
    return tl::unexpected(done.error());
  seen = 0;
  const auto add_other = [&](const auto& job) {
    if (job.user != user)
      add(job, false);
    else
      ++seen;
  };
  if (auto done = jobs.of_all(looked_at, add_other); !done) return tl::unexpected(done.error());
  for (std::size_t i = 0; i < whose.size(); ++i)
    errors.misses[i].alike = alike[{whose[i], errors.misses[i].log_centre}];
  return errors;
}

}  // namespace schedmate::advisor
