// SPDX-License-Identifier: Apache-2.0
#include "daemon/first_forecasts.hpp"

namespace schedmate::daemon {

void FirstForecasts::note(const Forecast& forecast) {
  for (const auto& [id, job] : forecast.jobs)
    if (job.start) first_.try_emplace(id, *job.start);
  std::erase_if(first_, [&](const auto& each) { return !forecast.jobs.contains(each.first); });
}

void FirstForecasts::started(const SeenJob& job) {
  const auto found = first_.find(job.id);
  if (found == first_.end() || !job.started) return;
  if (*job.started < found->second.p10)
    ++counts_.before;
  else if (*job.started > found->second.p90)
    ++counts_.after;
  else
    ++counts_.inside;
  first_.erase(found);
}

}  // namespace schedmate::daemon
