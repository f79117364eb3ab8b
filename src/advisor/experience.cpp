// SPDX-License-Identifier: Apache-2.0
#include "advisor/experience.hpp"

#include <algorithm>
#include <array>

#include "advisor/estimates.hpp"

namespace schedmate {
namespace {

AdviceSource source_of(std::string_view name) {
  for (const AdviceSource each :
       {AdviceSource::resubmission, AdviceSource::similar, AdviceSource::user_history})
    if (name_of(each) == name) return each;
  return AdviceSource::none;
}

Result<void> add_residuals(Store& store, const JobFilter& filter, const std::string& user,
                           std::vector<Residual>& residuals) {
  return store.each(filter, [&](const JobRecord& record) {
    const bool same_user = record.user == user;
    if (!filter.user && same_user) return true;  // already there
    if (auto residual = residual_of(record)) {
      residual->same_user = same_user;
      residuals.push_back(*residual);
    }
    return true;
  });
}

}  // namespace

std::optional<PastRun> past_run(const JobRecord& record) {
  if (!record.outcome || record.outcome->state == EndState::unknown) return std::nullopt;
  PastRun run;
  run.id = record.id;
  run.user = record.user;
  run.submit = record.submit;
  run.state = record.outcome->state;
  run.duration = std::max(Seconds(0), record.outcome->duration);
  run.gpu_util_pct = record.outcome->gpu_util_pct;
  run.gpu_memory_mib = record.outcome->gpu_memory_mib;
  return run;
}

std::optional<Residual> residual_of(const JobRecord& record) {
  const auto run = past_run(record);
  if (!run || !record.advice) return std::nullopt;
  const AdviceSource source = source_of(record.advice->source);
  if (source == AdviceSource::none) return std::nullopt;
  return Residual{log_of(run->duration) - log_of(record.advice->p50), source, false};
}

Result<std::vector<Residual>> recent_residuals(Store& store, const std::string& user) {
  std::vector<Residual> residuals;
  JobFilter filter;
  filter.finished = true;
  filter.brief = true;
  filter.user = user;
  filter.limit = experience::own_errors;
  if (auto done = add_residuals(store, filter, user, residuals); !done)
    return tl::unexpected(done.error());
  filter.user.reset();
  filter.limit = experience::all_errors;
  if (auto done = add_residuals(store, filter, user, residuals); !done)
    return tl::unexpected(done.error());
  return residuals;
}

Result<std::vector<PastRun>> latest_runs(Store& store, const std::string& user, std::int64_t gpus) {
  JobFilter filter;
  filter.user = user;
  filter.finished = true;
  filter.brief = true;
  filter.limit = experience::latest_jobs;
  std::vector<PastRun> all;
  std::vector<PastRun> alike;
  const auto done = store.each(filter, [&](const JobRecord& record) {
    if (const auto run = past_run(record)) {
      all.push_back(*run);
      if (record.gpus == gpus) alike.push_back(*run);
    }
    return true;
  });
  if (!done) return tl::unexpected(done.error());
  return alike.empty() ? all : alike;
}

Result<double> Trust::of(const std::string& user) {
  if (const auto known = known_.find(user); known != known_.end()) return known->second;
  JobFilter filter;
  filter.user = user;
  filter.finished = true;
  filter.brief = true;
  filter.limit = experience::latest_jobs;
  std::size_t overruns = 0;
  std::size_t jobs = 0;
  const auto done = store_.each(filter, [&](const JobRecord& record) {
    if (!residual_of(record)) return true;
    ++jobs;
    if (FractionalSeconds(record.outcome->duration) > record.advice->p90) ++overruns;
    return true;
  });
  if (!done) return tl::unexpected(done.error());
  return known_[user] = trust_after(overruns, jobs);
}

double trust_after(std::size_t overruns, std::size_t jobs) {
  // A past of ten jobs with one overrun stands for the unknown user.
  constexpr double usual = 0.1;
  constexpr double least = 0.1;
  const double share = static_cast<double>(overruns + 1) / static_cast<double>(jobs + 10);
  return std::clamp(usual / share, least, 1.0);
}

}  // namespace schedmate
