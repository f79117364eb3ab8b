// SPDX-License-Identifier: Apache-2.0
#include "daemon/foresight.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "daemon/memory.hpp"
#include "daemon/past_job.hpp"

namespace schedmate::daemon {

std::chrono::nanoseconds forecast_period(std::chrono::nanoseconds took) {
  constexpr std::chrono::nanoseconds often = std::chrono::seconds(1), seldom = 60 * often;
  constexpr int share = 40;
  return std::max(std::clamp(share * took, often, seldom), 2 * took);
}

bool Foresight::foresee(Listing& listing, const Host& host) {
  if (busy_ || clock_.now() < next_) return false;
  busy_ = true;
  next_ = clock_.now();
  // Once this process ends nobody starts any more, so that a forecast is soon over.
  Scheduler asked = host.scheduler;
  asked.decide = [this, decide = asked.decide](const View& view, Plan& plan) mutable {
    if (!stopped_) decide(view, plan);
  };
  KnownRuns runs = known_runs(host.loop.jobs(), host.loop.lives(), listing.now);
  worker_.ask([this, listing = std::move(listing), ended = std::exchange(ended_, {}),
               asked = std::move(asked), half_life = host.half_life, wishes = wishes_of(host.loop),
               runs = std::move(runs)]() mutable {
    if (!std::exchange(knows_past_, true)) learn_past(listing.now, ended);
    for (const SeenJob& job : ended) {
      forecasts_.note(job);
      hindsight_.ended(job);
    }
    forecasts_.half_life(half_life);
    take_(forecast_of(forecasts_.question(std::exchange(listing, {}), wishes, runs), asked,
                      hindsight_));
    give_back_memory();
  });
  return true;
}

void Foresight::read_past(SimTime now, std::function<void(std::vector<SeenJob>)> take) {
  worker_.ask([this, now, take = std::move(take)] {
    take(past_runs(session_, now, Forecasts::most_past));
    give_back_memory();
  });
}

/// Some may have come into the history since.
void Foresight::learn_past(SimTime now, const std::vector<SeenJob>& ended) {
  std::set<std::string_view> told;
  for (const SeenJob& job : ended) told.insert(job.id);
  for (const SeenJob& job : past_runs(session_, now, Forecasts::most_past))
    if (!told.contains(job.id)) forecasts_.note(job);
}

std::string Foresight::take(Result<Forecast> made) {
  next_ += forecast_period(clock_.now() - next_);
  busy_ = false;
  const bool had_one = last_ != nullptr;
  worker_.ask([old = std::exchange(last_, nullptr)] {});
  if (!made) return had_one ? "no forecast: " + made.error().message : "";
  last_ = std::make_shared<const Forecast>(std::move(*made));
  first_.note(*last_);
  return {};
}

}  // namespace schedmate::daemon
