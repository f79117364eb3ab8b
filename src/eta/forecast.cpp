// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <schedmate/eta.hpp>
#include <thread>

#include "base/random.hpp"
#include "eta/pool_replay.hpp"
#include "eta/submissions.hpp"

namespace schedmate {
namespace {

using eta::Drawn;
using eta::Fate;
using eta::PastDays;
using eta::PoolReplay;

/// The same draw for the same job in every forecast with that seed, whatever else has changed. Run
/// times of one user resemble one another, of one size more, of one burst most. What runs still has
/// told by running what the two kinds have in common, so they are drawn apart. Parts: measured on
/// Venus and Philly (docs/decisions/0024).
double share_of(std::uint64_t seed, std::uint64_t sample, const SnapshotJob& job) {
  struct Parts {
    double user, size, burst, own, stretch;
  };
  constexpr Parts of_running{0.20, 0.15, 0.30, 0.35, 1.15};
  constexpr Parts of_waiting{0.10, 0.05, 0.15, 0.70, 1};
  const Parts& parts = job.started ? of_running : of_waiting;
  std::uint64_t key = mix(seed ^ mix(2 * sample + (job.started ? 1 : 0)));
  double z = 0;
  const auto add = [&](std::uint64_t what, double part) {
    key = mix(key ^ mix(what));
    z += std::sqrt(part) * Random(key).normal();
  };
  add(job.user, parts.user);
  add(static_cast<std::uint64_t>(job.gpus), parts.size);
  add(job.burst, parts.burst);
  std::uint64_t id = 0;
  for (const char each : job.id) id = mix(id ^ static_cast<unsigned char>(each));
  add(id, parts.own);
  return std::clamp(0.5 * std::erfc(-parts.stretch * z / std::numbers::sqrt2), 0.0, 1 - 1e-9);
}

/// A limit is an upper bound. Where its owner chose it knowing that the run ends before, a running
/// job is drawn from what ends by then. A waiting one is not: that takes long runs away from jobs
/// with short limits and gives none to those with long ones, so that all are too short
/// (docs/decisions/0024).
Drawn draw(const SnapshotJob& job, const QueueSnapshot& snapshot, double share) {
  constexpr double unlimited = std::numeric_limits<double>::infinity();
  const double ran = job.started ? static_cast<double>((snapshot.now - *job.started).count()) : 0;
  const double limit = job.limit ? static_cast<double>(job.limit->count()) : unlimited;
  const bool ends_before = job.started && !snapshot.limits_kill;
  const double run_time_s = job.belief.draw(share, ran, ends_before ? limit : unlimited);
  return {std::max(std::min(run_time_s, limit), ran + 1)};
}

SimTime quantile(std::vector<SimTime>& instants, double share) {
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(instants.size() - 1));
  std::ranges::nth_element(instants, instants.begin() + at);
  return instants[static_cast<std::size_t>(at)];
}

InstantQuantiles quantiles(std::vector<SimTime> instants) {
  return {quantile(instants, 0.1), quantile(instants, 0.25), quantile(instants, 0.5),
          quantile(instants, 0.75), quantile(instants, 0.9)};
}

/// One pool with its samples so far.
class PoolForecast {
 public:
  PoolForecast(const QueueSnapshot& snapshot, PoolReplay replay, const EtaOptions& options,
               std::uint32_t pool)
      : snapshot_(&snapshot),
        options_(&options),
        replay_(std::move(replay)),
        days_(snapshot, pool),
        pool_(pool) {
    for (const std::uint32_t job : replay_.jobs())
      waits_ = waits_ || !snapshot.jobs[job].started.has_value();
  }

  [[nodiscard]] bool done() const { return done_; }
  void plan_until(std::int64_t samples) { samples_.resize(static_cast<std::size_t>(samples)); }
  void sample(std::size_t number) {
    const std::uint64_t seed = options_->seed;
    std::vector<Drawn> drawn;
    for (const std::uint32_t job : replay_.jobs()) {
      const SnapshotJob& each = snapshot_->jobs[job];
      drawn.push_back(draw(each, *snapshot_, share_of(seed, number, each)));
    }
    const std::uint64_t of_days = mix(seed ^ mix(number ^ mix(pool_ + 1)));
    samples_[number] = replay_.run(drawn, waits_ ? days_.draw(of_days) : nobody(),
                                   snapshot_->now + options_->horizon);
  }

  /// Whether more samples would change much, since the last time that it was asked.
  void judge() {
    std::vector<InstantQuantiles> now;
    std::size_t moved = 0;
    for (std::size_t i = 0; i < replay_.jobs().size(); ++i) now.push_back(starts_of(i));
    for (std::size_t i = 0; i < before_.size(); ++i) moved += is_far(now[i], before_[i]) ? 1 : 0;
    constexpr std::size_t one_in = 20;
    done_ = !waits_ || (!before_.empty() && moved * one_in <= now.size());
    before_ = std::move(now);
  }

  void report(QueueForecast& forecast) const {
    forecast.samples = std::max(forecast.samples, std::ssize(samples_));
    for (std::size_t i = 0; i < replay_.jobs().size(); ++i) {
      const SnapshotJob& job = snapshot_->jobs[replay_.jobs()[i]];
      JobForecast& made = forecast.jobs[replay_.jobs()[i]];
      std::vector<SimTime> ends;
      for (const auto& fates : samples_) ends.push_back(fates[i].end);
      made.end = quantiles(std::move(ends));
      made.block = replay_.block_of(i);
      if (job.started) continue;
      made.start = starts_of(i);
      for (const auto& fates : samples_)
        made.waits_s.push_back(
            fates[i].start == never
                ? std::numeric_limits<double>::infinity()
                : static_cast<double>((fates[i].start - snapshot_->now).count()));
      made.awaited = awaited_by(i);
    }
  }

 private:
  static PoolReplay::NextSubmission nobody() {
    return [] { return std::optional<eta::Submission>(); };
  }

  [[nodiscard]] InstantQuantiles starts_of(std::size_t i) const {
    std::vector<SimTime> starts;
    for (const auto& fates : samples_) starts.push_back(fates[i].start);
    return quantiles(std::move(starts));
  }

  /// By more than a tenth of the wait, minutes left out.
  [[nodiscard]] bool is_far(const InstantQuantiles& a, const InstantQuantiles& b) const {
    const auto log_wait = [&](SimTime start) {
      constexpr double minute = 60;
      return std::log(minute + FractionalSeconds(start - snapshot_->now).count());
    };
    const auto far = [&](SimTime first, SimTime second) {
      constexpr double tenth = 0.1;
      if (first == never || second == never) return first != second;
      return std::abs(log_wait(first) - log_wait(second)) > tenth;
    };
    return far(a.p10, b.p10) || far(a.p50, b.p50) || far(a.p90, b.p90);
  }

  [[nodiscard]] std::vector<JobForecast::Awaited> awaited_by(std::size_t i) const {
    std::map<std::size_t, double> counts;
    for (const auto& fates : samples_)
      for (const std::uint32_t job : fates[i].freed_by) ++counts[job];
    std::vector<JobForecast::Awaited> awaited;
    for (const auto& [job, count] : counts)
      awaited.push_back({job, count / static_cast<double>(samples_.size())});
    std::ranges::stable_sort(awaited, std::ranges::greater(), &JobForecast::Awaited::share);
    constexpr std::size_t most = 3;
    constexpr double worth_telling = 0.1;
    if (awaited.size() > most) awaited.resize(most);
    std::erase_if(awaited, [&](const auto& each) { return each.share < worth_telling; });
    return awaited;
  }

  const QueueSnapshot* snapshot_;
  const EtaOptions* options_;
  PoolReplay replay_;
  PastDays days_;
  std::uint32_t pool_;
  bool waits_ = false;
  bool done_ = false;
  std::vector<std::vector<Fate>> samples_;
  std::vector<InstantQuantiles> before_;
};

void run_samples(std::vector<PoolForecast>& pools, std::int64_t from, std::int64_t to,
                 int threads) {
  std::vector<PoolForecast*> open;
  for (PoolForecast& pool : pools)
    if (!pool.done()) {
      pool.plan_until(to);
      open.push_back(&pool);
    }
  const auto each = static_cast<std::size_t>(to - from);
  std::atomic<std::size_t> next = 0;
  const auto take_turns = [&] {
    for (std::size_t i = next++; i < open.size() * each; i = next++)
      open[i / each]->sample(static_cast<std::size_t>(from) + i % each);
  };
  {
    std::vector<std::jthread> helpers;
    for (int i = 1; i < threads; ++i) helpers.emplace_back(take_turns);
    take_turns();
  }
  for (PoolForecast* pool : open) pool->judge();
}

Result<std::vector<std::vector<std::uint32_t>>> jobs_by_pool(const QueueSnapshot& snapshot) {
  std::vector<std::vector<std::uint32_t>> by_pool(snapshot.pools.size());
  for (std::uint32_t i = 0; i < snapshot.jobs.size(); ++i) {
    const SnapshotJob& job = snapshot.jobs[i];
    if (job.pool >= by_pool.size())
      return fail(ErrorCode::invalid, fmt::format("job {} is in no partition", job.id));
    if (job.gpus < 1) return fail(ErrorCode::invalid, fmt::format("job {} has no GPU", job.id));
    by_pool[job.pool].push_back(i);
  }
  return by_pool;
}

}  // namespace

Result<QueueForecast> forecast_queue(const QueueSnapshot& snapshot, const Scheduler& scheduler,
                                     const EtaOptions& options) {
  const auto by_pool = jobs_by_pool(snapshot);
  if (!by_pool) return tl::unexpected(by_pool.error());
  std::vector<PoolForecast> pools;
  pools.reserve(by_pool->size());
  for (std::uint32_t pool = 0; pool < by_pool->size(); ++pool) {
    if ((*by_pool)[pool].empty()) continue;
    auto replay = PoolReplay::make(snapshot, pool, (*by_pool)[pool], scheduler);
    if (!replay) return tl::unexpected(replay.error());
    pools.emplace_back(snapshot, std::move(*replay), options, pool);
  }
  std::int64_t done = 0;
  constexpr std::int64_t first_batch = 50;
  while (done < options.samples) {
    const std::int64_t until = std::min(options.samples, std::max(first_batch, 2 * done));
    run_samples(pools, done, until, options.threads);
    done = until;
  }
  QueueForecast forecast;
  forecast.jobs.resize(snapshot.jobs.size());
  for (const PoolForecast& pool : pools) pool.report(forecast);
  return forecast;
}

}  // namespace schedmate
