// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <schedmate/earlier.hpp>

#include "eta/pool_replay.hpp"

namespace schedmate {
namespace {

constexpr Seconds minute{60};

/// The job and those of its pool. Pools and past stay, so that all draws do.
struct PoolAlone {
  QueueSnapshot snapshot;
  std::size_t job = 0;

  PoolAlone(const QueueSnapshot& whole, std::size_t waiting, const SnapshotJob& changed) {
    snapshot.now = whole.now;
    snapshot.pools = whole.pools;
    snapshot.changes = whole.changes;
    snapshot.outages = whole.outages;
    snapshot.past = whole.past;
    snapshot.limits_kill = whole.limits_kill;
    snapshot.site = whole.site;
    snapshot.limits = eta::limits_left_to(whole, changed.pool);
    for (std::size_t i = 0; i < whole.jobs.size(); ++i) {
      if (i == waiting) job = snapshot.jobs.size();
      if (i == waiting || whole.jobs[i].pool == changed.pool)
        snapshot.jobs.push_back(i == waiting ? changed : whole.jobs[i]);
    }
  }
};

/// By more than a minute and a tenth of what is left to wait.
bool is_clearly_earlier(SimTime after, SimTime before, SimTime now) {
  if (before == never) return after != never;
  return before - after > std::max(minute, (before - now) / 10);
}

/// The share of its run times within `limit`.
double covered(const SnapshotJob& job, Seconds limit) {
  const auto most = static_cast<double>(limit.count());
  double low = 0, high = 1;
  constexpr int halvings = 20;
  for (int i = 0; i < halvings; ++i) {
    const double share = (low + high) / 2;
    (job.belief.draw(share, 0) <= most ? low : high) = share;
  }
  return high > 1 - 1e-5 ? 1 : low;
}

/// A way to change the job, from the mildest on.
struct Way {
  JobChange change;
  std::vector<SnapshotJob> jobs;
};

Result<Way> with_fewer_gpus(const PoolAlone& base, const SnapshotJob& job,
                            const Scheduler& scheduler) {
  const auto replay = eta::PoolReplay::make(base.snapshot, job.pool, base.snapshot.jobs, scheduler);
  if (!replay) return tl::unexpected(replay.error());
  const std::int32_t of_node = base.snapshot.pools[job.pool].gpus_per_node;
  std::vector<std::int32_t> sizes = {job.gpus / 2, job.gpus / 4, replay->most_that_fit(job),
                                     (job.gpus - 1) / of_node * of_node};
  std::ranges::sort(sizes, std::ranges::greater());
  const auto repeated = std::ranges::unique(sizes);
  sizes.erase(repeated.begin(), repeated.end());
  Way way{JobChange::gpus, {}};
  for (const std::int32_t gpus : sizes)
    if (gpus > 0) way.jobs.emplace_back(job).gpus = gpus;
  return way;
}

Way with_shorter_limit(const SnapshotJob& job, const Scheduler& scheduler,
                       const MayChange& may_change) {
  constexpr double least = 0.9;
  std::vector<Seconds> limits;
  if (scheduler.plans)
    for (const double share : {0.99, least}) {
      const double minutes = std::ceil(job.belief.draw(share, 0) / 60);
      limits.push_back(static_cast<std::int64_t>(std::max(1.0, minutes)) * minute);
    }
  if (may_change.limit_to_start_now) {
    const Seconds whole_minutes = *may_change.limit_to_start_now / minute * minute;
    if (covered(job, whole_minutes) >= least) limits.push_back(whole_minutes);
  }
  std::ranges::sort(limits, std::ranges::greater());
  Way way{JobChange::limit, {}};
  for (const Seconds limit : limits) {
    if (!job.limit || limit >= *job.limit || limit < minute) continue;
    SnapshotJob& changed = way.jobs.emplace_back(job);
    changed.limit = limit;
    changed.planned = std::min(job.planned, FractionalSeconds(limit));
    if (may_change.limit_to_start_now && limit <= *may_change.limit_to_start_now)
      changed.eligible.reset();
  }
  return way;
}

class Trial {
 public:
  Trial(const QueueSnapshot& snapshot, const Scheduler& scheduler, const EtaOptions& options,
        std::size_t waiting)
      : snapshot_(snapshot), scheduler_(scheduler), options_(options), waiting_(waiting) {}

  /// As it is.
  Result<void> begin() {
    auto forecast = of(snapshot_.jobs[waiting_]);
    if (!forecast) return tl::unexpected(forecast.error());
    before_ = std::move(*forecast);
    return {};
  }

  Result<void> take(const Way& way) {
    SimTime best = before_.start->p50;
    for (const SnapshotJob& changed : way.jobs) {
      const auto forecast = of(changed);
      if (!forecast) return tl::unexpected(forecast.error());
      const SimTime after = forecast->start->p50;
      const double share = share_earlier(forecast->waits_s);
      if (share <= 0.5 || !is_clearly_earlier(after, best, snapshot_.now)) continue;
      best = after;
      found_.push_back({.change = way.change,
                        .job = changed,
                        .before = before_.start->p50,
                        .after = after,
                        .share = share,
                        .covers = changed.limit ? covered(changed, *changed.limit) : 1});
    }
    return {};
  }

  std::vector<Earlier> found() && {
    std::ranges::stable_sort(found_, {}, &Earlier::after);
    return std::move(found_);
  }

 private:
  [[nodiscard]] Result<JobForecast> of(const SnapshotJob& changed) const {
    const PoolAlone alone(snapshot_, waiting_, changed);
    auto forecast = forecast_queue(alone.snapshot, scheduler_, options_);
    if (!forecast) return tl::unexpected(forecast.error());
    return std::move(forecast->jobs[alone.job]);
  }

  [[nodiscard]] double share_earlier(const std::vector<double>& waits_s) const {
    const std::size_t pairs = std::min(waits_s.size(), before_.waits_s.size());
    std::size_t earlier = 0;
    for (std::size_t i = 0; i < pairs; ++i) earlier += waits_s[i] < before_.waits_s[i] ? 1 : 0;
    return pairs == 0 ? 0 : static_cast<double>(earlier) / static_cast<double>(pairs);
  }

  const QueueSnapshot& snapshot_;
  const Scheduler& scheduler_;
  const EtaOptions& options_;
  std::size_t waiting_;
  JobForecast before_;
  std::vector<Earlier> found_;
};

}  // namespace

Result<std::vector<Earlier>> what_starts_earlier(const QueueSnapshot& snapshot,
                                                 const Scheduler& scheduler,
                                                 const EtaOptions& options,
                                                 const WaitingJob& waiting) {
  if (waiting.job >= snapshot.jobs.size() || snapshot.jobs[waiting.job].started)
    return fail(ErrorCode::invalid, "only a waiting job can start earlier");
  const SnapshotJob& job = snapshot.jobs[waiting.job];
  const MayChange& may_change = waiting.may_change;
  Trial trial(snapshot, scheduler, options, waiting.job);
  if (auto begun = trial.begin(); !begun) return tl::unexpected(begun.error());
  std::vector<Way> ways;
  if (!job.kept_out) {
    auto fewer = with_fewer_gpus({snapshot, waiting.job, job}, job, scheduler);
    if (!fewer) return tl::unexpected(fewer.error());
    ways.push_back(std::move(*fewer));
    ways.push_back(with_shorter_limit(job, scheduler, may_change));
    for (std::size_t i = 0; i < may_change.pools.size(); ++i) {
      const std::uint32_t pool = may_change.pools[i];
      if (pool == job.pool || pool >= snapshot.pools.size()) continue;
      SnapshotJob& moved = ways.emplace_back(JobChange::pool, std::vector{job}).jobs.front();
      moved.pool = pool;
      moved.nodes = i < may_change.nodes.size() ? may_change.nodes[i] : nullptr;
    }
  }
  if (may_change.release) {
    Way& way = ways.emplace_back(JobChange::release, std::vector{job});
    way.jobs.front().kept_out = false;
    way.jobs.front().eligible.reset();
  }
  for (const Way& way : ways)
    if (auto tried = trial.take(way); !tried) return tl::unexpected(tried.error());
  return std::move(trial).found();
}

std::string_view name_of(JobChange change) {
  switch (change) {
    case JobChange::gpus:
      return "gpus";
    case JobChange::limit:
      return "limit";
    case JobChange::pool:
      return "pool";
    case JobChange::release:
      break;
  }
  return "release";
}

}  // namespace schedmate
