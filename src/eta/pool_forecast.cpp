// SPDX-License-Identifier: Apache-2.0
#include "eta/pool_forecast.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/random.hpp"

namespace schedmate::eta {
namespace {

constexpr std::size_t first_round = 50;

SimTime quantile(std::vector<SimTime>& instants, double share) {
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(instants.size() - 1));
  std::ranges::nth_element(instants, instants.begin() + at);
  return instants[static_cast<std::size_t>(at)];
}

InstantQuantiles quantiles(std::vector<SimTime> instants) {
  return {quantile(instants, 0.1), quantile(instants, 0.25), quantile(instants, 0.5),
          quantile(instants, 0.75), quantile(instants, 0.9)};
}

/// By more than a tenth of the wait, minutes left out.
bool is_far(const InstantQuantiles& a, const InstantQuantiles& b, SimTime now) {
  const auto log_wait = [&](SimTime start) {
    constexpr double minute = 60;
    return std::log(minute + FractionalSeconds(start - now).count());
  };
  const auto far = [&](SimTime first, SimTime second) {
    constexpr double tenth = 0.1;
    if (first == never || second == never) return first != second;
    return std::abs(log_wait(first) - log_wait(second)) > tenth;
  };
  return far(a.p10, b.p10) || far(a.p50, b.p50) || far(a.p90, b.p90);
}

}  // namespace

PoolForecast::PoolForecast(const QueueSnapshot& snapshot, std::uint32_t pool,
                           const EtaOptions& options)
    : snapshot_(&snapshot), options_(options), pool_(pool), days_(snapshot, pool) {}

void PoolForecast::add(const SnapshotJob& job) {
  forget_samples();
  jobs_.push_back(job);
  members_.emplace_back(job);
}

void PoolForecast::remove(std::size_t which) {
  forget_samples();
  jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(which));
  members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(which));
}

void PoolForecast::time_has_passed() {
  days_ = PastDays(*snapshot_, pool_);
  for (Member& member : members_)
    if (!member.waits) member.run_times_s.clear();
  forget_samples();
}

Result<void> PoolForecast::begin(const Scheduler& scheduler) {
  if (replay_) return {};
  drawn_ = planned_ = 0;
  if (empty()) return {};
  auto made = PoolReplay::make(*snapshot_, pool_, jobs_, scheduler);
  if (!made) return tl::unexpected(made.error());
  replay_.emplace(std::move(*made));
  by_kin_.resize(members_.size());
  for (std::uint32_t i = 0; i < by_kin_.size(); ++i) by_kin_[i] = i;
  std::ranges::sort(by_kin_, {}, [&](std::uint32_t i) -> const Kin& { return members_[i].kin; });
  waits_ = std::ranges::any_of(members_, &Member::waits);
  done_ = false;
  before_.clear();
  return {};
}

PoolForecast::Round PoolForecast::next_round(std::int64_t samples) {
  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(samples, 1));
  if (done_ || empty() || drawn_ >= most) return {};
  std::size_t judged = first_round;
  while (judged <= drawn_) judged *= 2;
  plan_until(std::min(most, judged));
  return {drawn_, planned_};
}

void PoolForecast::plan_until(std::size_t samples) {
  planned_ = samples;
  for (Member& member : members_) {
    if (member.run_times_s.size() < samples) {
      member.run_times_s.resize(samples);
      member.ends.resize(samples);
    }
    if (member.waits && member.fates.size() < samples) member.fates.resize(samples);
  }
}

void PoolForecast::sample(std::size_t number) {
  Draws draws(options_.seed, number);
  std::vector<double> run_times_s(members_.size());
  for (const std::uint32_t i : by_kin_) {
    Member& member = members_[i];
    double& drawn = member.run_times_s[number];
    if (drawn == 0) drawn = run_time_of(jobs_[i], *snapshot_, draws.share_of(member.kin));
    run_times_s[i] = drawn;
  }
  const std::uint64_t of_days = mix(options_.seed ^ mix(number ^ mix(pool_ + 1)));
  const auto nobody = [] { return std::optional<Submission>(); };
  const SimTime until = snapshot_->now + options_.horizon;
  const std::vector<NodeChange> returns = draw_returns(number);
  const std::vector<Fate> fates =
      replay_->run({run_times_s, returns, until, options_.resolution},
                   waits_ ? days_.draw(of_days) : PoolReplay::NextSubmission(nobody));
  for (std::size_t i = 0; i < fates.size(); ++i) {
    members_[i].ends[number] = fates[i].end <= until ? fates[i].end : never;
    if (members_[i].waits) members_[i].fates[number] = fates[i];
  }
}

/// When the nodes that are out take jobs again; in order of time.
std::vector<NodeChange> PoolForecast::draw_returns(std::size_t number) const {
  std::vector<NodeChange> returns;
  for (const NodeOutage& out : snapshot_->outages) {
    if (out.pool != pool_) continue;
    Random random(mix(options_.seed ^ mix(number ^ mix(out.node + mix(pool_ + 1)))));
    constexpr Seconds least(3600);
    const Seconds so_far = std::max(snapshot_->now - out.since, least);
    const double in_all_s =
        RunTimeBelief().draw(random.uniform(), static_cast<double>(so_far.count()));
    const SimTime back = snapshot_->now - so_far + Seconds(std::llround(in_all_s));
    if (back <= snapshot_->now + options_.horizon)
      returns.push_back({back, out.pool, out.node, NodeState::up});
  }
  std::ranges::stable_sort(returns, {}, &NodeChange::when);
  return returns;
}

void PoolForecast::end_round() {
  drawn_ = planned_;
  std::size_t judged = first_round;
  while (judged < drawn_) judged *= 2;
  if (judged == drawn_) done_ = !waits_ || stands_still();
}

/// Whether more samples would change little, since the last time that it was asked.
bool PoolForecast::stands_still() {
  std::vector<InstantQuantiles> now;
  for (const Member& member : members_)
    if (member.waits) now.push_back(starts_of(member));
  std::size_t moved = 0;
  for (std::size_t i = 0; i < before_.size(); ++i)
    moved += is_far(now[i], before_[i], snapshot_->now) ? 1 : 0;
  constexpr std::size_t one_in = 20;
  const bool still = !before_.empty() && moved * one_in <= before_.size();
  before_ = std::move(now);
  return still;
}

InstantQuantiles PoolForecast::starts_of(const Member& member) const {
  std::vector<SimTime> starts;
  for (std::size_t i = 0; i < drawn_; ++i) starts.push_back(member.fates[i].start);
  return quantiles(std::move(starts));
}

/// The ends of what runs stay the same when something else changes.
void PoolForecast::tell_end(Member& member) const {
  const std::span ends = std::span(member.ends).first(drawn_);
  std::uint64_t hash = 0;
  for (const SimTime end : ends)
    hash = 0x9e3779b97f4a7c15ULL * (hash + 1) + static_cast<std::uint64_t>(seconds_of(end));
  if (member.samples == drawn_ && member.hash == hash) return;
  member.samples = drawn_;
  member.hash = hash;
  member.end = quantiles({ends.begin(), ends.end()});
}

void PoolForecast::report(QueueForecast& forecast, const std::vector<std::uint32_t>& indices) {
  forecast.samples = std::max(forecast.samples, static_cast<std::int64_t>(drawn_));
  for (std::size_t i = 0; i < members_.size(); ++i) {
    Member& member = members_[i];
    JobForecast& made = forecast.jobs[indices[i]];
    tell_end(member);
    made.end = member.end;
    made.block = replay_->block_of(i);
    if (!member.waits) continue;
    if (made.block == QueueBlock::shared_limit) made.limit = replay_->limit_of(i);
    made.start = starts_of(member);
    made.waits_s.reserve(drawn_);
    for (std::size_t each = 0; each < drawn_; ++each) {
      const SimTime start = member.fates[each].start;
      made.waits_s.push_back(start == never
                                 ? std::numeric_limits<double>::infinity()
                                 : static_cast<double>((start - snapshot_->now).count()));
    }
    made.awaited = awaited_by(member, indices);
  }
}

std::vector<JobForecast::Awaited> PoolForecast::awaited_by(
    const Member& member, const std::vector<std::uint32_t>& indices) const {
  std::map<std::size_t, double> counts;
  for (const Fate& fate : std::span(member.fates).first(drawn_))
    for (const std::uint32_t job : std::span(fate.freed_by).first(fate.count_freed_by))
      ++counts[indices[job]];
  std::vector<JobForecast::Awaited> awaited;
  for (const auto& [job, count] : counts)
    awaited.push_back({job, count / static_cast<double>(drawn_)});
  std::ranges::stable_sort(awaited, std::ranges::greater(), &JobForecast::Awaited::share);
  constexpr std::size_t most = 3;
  constexpr double worth_telling = 0.1;
  if (awaited.size() > most) awaited.resize(most);
  std::erase_if(awaited, [&](const auto& each) { return each.share < worth_telling; });
  return awaited;
}

}  // namespace schedmate::eta
