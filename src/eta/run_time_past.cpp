// SPDX-License-Identifier: Apache-2.0
#include "eta/run_time_past.hpp"

#include <algorithm>
#include <cmath>

namespace schedmate::eta {

void RunTimePast::add(const Run& run) {
  by_user_[run.user].push_back(run);
  all_.push_back({std::max(1.0, run.run_time_s), 1, run.ended});
  site_.reset();
  own_.clear();
}

std::shared_ptr<const PastRunTimes> RunTimePast::site() {
  if (!site_ && !all_.empty()) site_ = std::make_shared<const PastRunTimes>(all_);
  return site_;
}

RunTimeBelief RunTimePast::belief(std::uint32_t user, std::int32_t gpus) {
  RunTimeBelief belief{.own = nullptr, .site = site()};
  const auto found = by_user_.find(user);
  if (found == by_user_.end()) return belief;
  std::shared_ptr<const PastRunTimes>& own = own_[{user, gpus}];
  if (!own) {
    constexpr std::size_t most = 100;
    constexpr double half_count = 10;
    constexpr double other_size = 0.2;
    std::vector<Run> latest = found->second;
    std::ranges::stable_sort(latest, std::ranges::greater(), &Run::start);
    if (latest.size() > most) latest.resize(most);
    std::vector<PastRunTimes::Past> runs;
    for (std::size_t i = 0; i < latest.size(); ++i) {
      const double fresh = std::exp2(-static_cast<double>(i) / half_count);
      runs.push_back({std::max(1.0, latest[i].run_time_s),
                      fresh * (latest[i].gpus == gpus ? 1 : other_size), latest[i].ended});
    }
    own = std::make_shared<const PastRunTimes>(std::move(runs));
  }
  belief.own = own;
  return belief;
}

}  // namespace schedmate::eta
