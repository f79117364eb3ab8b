// SPDX-License-Identifier: Apache-2.0
#include "daemon/hindsight.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace schedmate::daemon {
namespace {

using enum ForecastKind;

constexpr std::size_t place_of(ForecastKind kind) { return static_cast<std::size_t>(kind); }

double span_s(SimTime from, SimTime to) {
  return std::max(0.0, FractionalSeconds(to - from).count());
}

/// Of one pool and day.
std::uint64_t crowd_of(std::size_t pool, SimTime now) {
  constexpr std::int64_t day_s = 86'400;
  constexpr std::uint64_t pools = 1U << 20U;
  return static_cast<std::uint64_t>(seconds_of(now) / day_s) * pools + pool + 1;
}

}  // namespace

void Hindsight::happened(std::optional<Told>& told, SimTime then) {
  if (!told) return;
  auto [when, made] = *std::exchange(told, std::nullopt);
  made.then_s = span_s(when, then);
  made.happened = true;
  std::deque<PastForecast>& past = past_[place_of(made.kind)];
  past.push_back(made);
  if (past.size() > most) past.pop_front();
}

void Hindsight::ended(const SeenJob& job) {
  const auto found = jobs_.find(job.id);
  if (found == jobs_.end() || found->second.submitted != job.submitted) return;
  auto& told = found->second.told;
  if (job.started && job.ended) {
    happened(told[place_of(start)], *job.started);
    happened(told[place_of(end_of_waiting)], *job.ended);
    happened(told[place_of(end_of_running)], *job.ended);
  }
  jobs_.erase(found);
}

/// Of a long queue only some are followed: enough come of them.
Hindsight::Jobs::iterator Hindsight::follow(std::string_view id, std::size_t queue) {
  constexpr std::size_t enough = 3000;
  std::string key(id);
  const auto found = jobs_.find(key);
  const bool is_left_out = std::hash<std::string_view>()(id) % (queue / enough + 1) != 0;
  if (found != jobs_.end() || is_left_out) return found;
  return jobs_.try_emplace(std::move(key)).first;
}

void Hindsight::note(const QueueSnapshot& snapshot, const QueueForecast& forecast) {
  ++round_;
  const SimTime now = snapshot.now;
  for (std::size_t i = 0; i < snapshot.jobs.size(); ++i) {
    const SnapshotJob& job = snapshot.jobs[i];
    const JobForecast& made = forecast.jobs[i];
    const auto known = follow(job.id, snapshot.jobs.size());
    if (known == jobs_.end()) continue;
    Waited& waited = known->second;
    if (waited.submitted != job.submit) waited = {.submitted = job.submit};
    waited.round = round_;
    const double so_far_s = span_s(job.started.value_or(job.waits_since.value_or(job.submit)), now);
    const auto tell = [&](ForecastKind kind, const InstantQuantiles& instants) {
      auto& told = waited.told[place_of(kind)];
      if (!told)
        told = {now,
                {.kind = kind,
                 .so_far_s = so_far_s,
                 .told = spans_of(instants, now),
                 .crowd = crowd_of(job.pool, now)}};
    };
    if (job.started) {
      happened(waited.told[place_of(start)], *job.started);
      tell(end_of_running, made.end);
    } else {
      if (made.start) tell(start, *made.start);
      tell(end_of_waiting, made.end);
    }
  }
  std::erase_if(jobs_, [&](const auto& each) { return each.second.round != round_; });
}

EtaCalibration Hindsight::calibration(SimTime now) const {
  std::vector<PastForecast> all;
  for (std::size_t kind = 0; kind < forecast_kinds; ++kind) {
    all.insert(all.end(), past_[kind].begin(), past_[kind].end());
    std::vector<const Told*> open;
    for (const auto& [id, waited] : jobs_)
      if (waited.told[kind] && waited.told[kind]->when < now) open.push_back(&*waited.told[kind]);
    std::ranges::sort(open, {}, &Told::when);
    const std::size_t step = open.size() / most + 1;
    for (std::size_t i = 0; i < open.size(); i += step) {
      PastForecast& made = all.emplace_back(open[i]->forecast);
      made.then_s = span_s(open[i]->when, now);
    }
  }
  return EtaCalibration(all);
}

}  // namespace schedmate::daemon
