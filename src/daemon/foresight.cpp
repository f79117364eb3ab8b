// SPDX-License-Identifier: Apache-2.0
#include "daemon/foresight.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "daemon/memory.hpp"
#include "daemon/past_job.hpp"

namespace schedmate::daemon {

bool Foresight::foresee(Listing& listing, const Scheduler& scheduler) {
  if (busy_ || clock_.now() < next_) return false;
  busy_ = true;
  next_ = clock_.now();
  // Once this process ends nobody starts any more, so that a forecast is soon over.
  Scheduler asked = scheduler;
  asked.decide = [this, decide = asked.decide](const View& view, Plan& plan) mutable {
    if (!stopped_) decide(view, plan);
  };
  worker_.ask([this, listing = std::move(listing), ended = std::exchange(ended_, {}),
               asked = std::move(asked)]() mutable {
    if (!std::exchange(knows_past_, true)) learn_past(listing.now, ended);
    for (const SeenJob& job : ended) {
      forecasts_.note(job);
      hindsight_.ended(job);
    }
    take_(forecast_of(forecasts_.question(std::exchange(listing, {})), asked, hindsight_));
    give_back_memory();
  });
  return true;
}

/// Some may have come into the history since.
void Foresight::learn_past(SimTime now, const std::vector<SeenJob>& ended) {
  std::set<std::string_view> told;
  for (const SeenJob& job : ended) told.insert(job.id);
  for (const SeenJob& job : past_runs(session_, now, Forecasts::most_past))
    if (!told.contains(job.id)) forecasts_.note(job);
}

std::string Foresight::take(Result<Forecast> made) {
  constexpr std::chrono::nanoseconds often = std::chrono::seconds(1);
  next_ += std::max(often, 2 * (clock_.now() - next_));
  busy_ = false;
  const bool had_one = last_ != nullptr;
  worker_.ask([old = std::exchange(last_, nullptr)] {});
  if (!made) return had_one ? "no forecast: " + made.error().message : "";
  last_ = std::make_shared<const Forecast>(std::move(*made));
  first_.note(*last_);
  return {};
}

}  // namespace schedmate::daemon
