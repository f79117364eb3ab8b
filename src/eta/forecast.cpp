// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <schedmate/queue_forecaster.hpp>
#include <utility>

#include "base/threads.hpp"
#include "eta/pool_forecast.hpp"

namespace schedmate {
namespace {

using eta::PoolForecast;

Result<void> check(const SnapshotJob& job, const QueueSnapshot& snapshot) {
  if (job.pool >= snapshot.pools.size())
    return fail(ErrorCode::invalid, fmt::format("job {} is in no partition", job.id));
  if (job.gpus < 1) return fail(ErrorCode::invalid, fmt::format("job {} has no GPU", job.id));
  for (const std::uint32_t limit : job.limits)
    if (limit >= snapshot.limits.size())
      return fail(ErrorCode::invalid, fmt::format("job {} has a limit that is not there", job.id));
  return {};
}

/// The pools of a snapshot, each with its samples.
class Pools {
 public:
  Pools(const QueueSnapshot& snapshot, const Scheduler& scheduler, const EtaOptions& options)
      : snapshot_(snapshot), scheduler_(scheduler), threads_(options.threads) {
    for (std::uint32_t pool = 0; pool < snapshot.pools.size(); ++pool)
      pools_.emplace_back(snapshot, pool, options);
    for (const SnapshotJob& job : snapshot.jobs)
      if (job.pool < pools_.size()) pools_[job.pool].add(job);
  }

  void add(const SnapshotJob& job) {
    pools_[job.pool].add(job);
    note_shared(job);
  }
  void remove(std::size_t which) {
    const SnapshotJob& job = snapshot_.jobs[which];
    if (job.pool >= pools_.size()) return;  // as forecast() says
    const auto before = std::span(snapshot_.jobs).first(which);
    pools_[job.pool].remove(
        static_cast<std::size_t>(std::ranges::count(before, job.pool, &SnapshotJob::pool)));
    note_shared(job);
  }
  void time_has_passed() {
    for (PoolForecast& pool : pools_) pool.time_has_passed();
  }

  Result<QueueForecast> forecast(std::int64_t samples) {
    for (const SnapshotJob& job : snapshot_.jobs)
      if (auto checked = check(job, snapshot_); !checked) return tl::unexpected(checked.error());
    for (PoolForecast& pool : pools_)
      if (auto begun = pool.begin(scheduler_); !begun) return tl::unexpected(begun.error());
    while (draw_round(samples)) continue;
    std::vector<std::vector<std::uint32_t>> indices(pools_.size());
    for (std::uint32_t i = 0; i < snapshot_.jobs.size(); ++i)
      indices[snapshot_.jobs[i].pool].push_back(i);
    QueueForecast made;
    made.jobs.resize(snapshot_.jobs.size());
    for (std::size_t pool = 0; pool < pools_.size(); ++pool)
      pools_[pool].report(made, indices[pool]);
    return made;
  }

 private:
  /// What runs counts against its limits in every pool.
  void note_shared(const SnapshotJob& job) {
    if (!job.started || job.limits.empty()) return;
    for (PoolForecast& pool : pools_) pool.forget_samples();
  }

  bool draw_round(std::int64_t samples) {
    std::vector<PoolForecast*> open;
    std::vector<std::pair<PoolForecast*, std::size_t>> tasks;
    for (PoolForecast& pool : pools_) {
      const PoolForecast::Round round = pool.next_round(samples);
      if (round.from == round.to) continue;
      open.push_back(&pool);
      for (std::size_t i = round.from; i < round.to; ++i) tasks.emplace_back(&pool, i);
    }
    std::atomic<std::size_t> next = 0;
    run_on_threads(tasks.empty() ? 1 : threads_, [&](std::int64_t /*number*/) {
      for (std::size_t i = next++; i < tasks.size(); i = next++)
        tasks[i].first->sample(tasks[i].second);
    });
    for (PoolForecast* pool : open) pool->end_round();
    return !open.empty();
  }

  const QueueSnapshot& snapshot_;
  const Scheduler& scheduler_;
  int threads_;
  std::vector<PoolForecast> pools_;
};

}  // namespace

Result<QueueForecast> forecast_queue(const QueueSnapshot& snapshot, const Scheduler& scheduler,
                                     const EtaOptions& options) {
  return Pools(snapshot, scheduler, options).forecast(options.samples);
}

struct QueueForecaster::State {
  QueueSnapshot snapshot;
  Scheduler scheduler;
  EtaOptions options;
  Pools pools{snapshot, scheduler, options};
};

QueueForecaster::QueueForecaster(QueueSnapshot snapshot, Scheduler scheduler,
                                 const EtaOptions& options)
    : state_(std::make_unique<State>(std::move(snapshot), std::move(scheduler), options)) {}
QueueForecaster::QueueForecaster(QueueForecaster&&) noexcept = default;
QueueForecaster& QueueForecaster::operator=(QueueForecaster&&) noexcept = default;
QueueForecaster::~QueueForecaster() = default;

Result<void> QueueForecaster::arrived(SnapshotJob job) {
  if (auto checked = check(job, state_->snapshot); !checked) return tl::unexpected(checked.error());
  state_->pools.add(job);
  state_->snapshot.jobs.push_back(std::move(job));
  return {};
}

Result<void> QueueForecaster::ended(std::string_view id) {
  auto& jobs = state_->snapshot.jobs;
  const auto found = std::ranges::find(jobs, id, &SnapshotJob::id);
  if (found == jobs.end())
    return fail(ErrorCode::not_found, fmt::format("no job {} waits or runs", id));
  state_->pools.remove(static_cast<std::size_t>(found - jobs.begin()));
  jobs.erase(found);
  return {};
}

Result<void> QueueForecaster::advance(SimTime now) {
  if (now < state_->snapshot.now)
    return fail(ErrorCode::invalid, "a forecast does not go back in time");
  if (now == state_->snapshot.now) return {};
  state_->snapshot.now = now;
  state_->pools.time_has_passed();
  return {};
}

Result<QueueForecast> QueueForecaster::forecast(std::int64_t samples) {
  return state_->pools.forecast(std::min(samples, state_->options.samples));
}

Result<QueueForecast> QueueForecaster::forecast() { return forecast(state_->options.samples); }

const QueueSnapshot& QueueForecaster::snapshot() const { return state_->snapshot; }

}  // namespace schedmate
