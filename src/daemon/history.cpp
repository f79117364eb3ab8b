// SPDX-License-Identifier: Apache-2.0
#include "daemon/history.hpp"

#include <algorithm>

namespace schedmate::daemon {

void ClusterHistory::note(const live::Loop& loop, SimTime now) {
  constexpr Seconds often{300}, longest{86400};
  if (!samples_.empty() && now - samples_.back().when < often) return;
  Sample sample{.when = now};
  for (const auto& [name, node] : loop.actions().nodes())
    sample.gpus += node.state == NodeState::up ? node.gpus : 0;
  for (const auto& [id, attempt] : loop.jobs().all()) {
    sample.gpus_used += attempt.seen.phase == JobPhase::running ? attempt.seen.gpus : 0;
    sample.waiting += attempt.seen.phase == JobPhase::queued ? 1 : 0;
  }
  samples_.push_back(sample);
  while (now - samples_.front().when > longest) samples_.pop_front();
}

void JobActions::note(const std::string& job, std::int64_t action) {
  std::vector<std::int64_t>& ids = actions_[job];
  if (!ids.empty() && ids.back() == action) return;
  ids.push_back(action);
  if (ids.size() > most_actions_of_job) ids.erase(ids.begin());
}

std::vector<std::int64_t> JobActions::of(const std::string& job) const {
  const auto found = actions_.find(job);
  return found == actions_.end() ? std::vector<std::int64_t>() : found->second;
}

void JobActions::keep(const live::Jobs& jobs) {
  if (actions_.size() <= 2 * jobs.all().size() + 1000) return;
  std::erase_if(actions_, [&](const auto& each) { return jobs.find(each.first) == nullptr; });
}

}  // namespace schedmate::daemon
