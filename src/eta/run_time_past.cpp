// SPDX-License-Identifier: Apache-2.0
#include "eta/run_time_past.hpp"

#include <algorithm>
#include <cmath>

namespace schedmate::eta {

void RunTimePast::add(const Ended& ended) {
  by_user_[ended.user].push_back(ended);
  all_.push_back({std::max(1.0, ended.run_time_s), 1});
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
    std::vector<Ended> latest = found->second;
    std::ranges::stable_sort(latest, std::ranges::greater(), &Ended::end);
    if (latest.size() > most) latest.resize(most);
    std::vector<PastRunTimes::Past> runs;
    for (std::size_t i = 0; i < latest.size(); ++i) {
      const double fresh = std::exp2(-static_cast<double>(i) / half_count);
      runs.push_back(
          {std::max(1.0, latest[i].run_time_s), fresh * (latest[i].gpus == gpus ? 1 : other_size)});
    }
    own = std::make_shared<const PastRunTimes>(std::move(runs));
  }
  belief.own = own;
  return belief;
}

}  // namespace schedmate::eta
