// SPDX-License-Identifier: Apache-2.0
#include "policy/past_runs.hpp"

#include <algorithm>
#include <cmath>

namespace schedmate::policy {
namespace {
// Without any finished job in the VC: an hour, in the middle of the typical durations of Venus and
// Philly on a log scale (medians 193 s and 1,002 s, means 11,769 s and 38,716 s).
constexpr FractionalSeconds unknown_duration{3600};
}  // namespace

void PastRuns::add(const FinishedJob& ended) {
  by_user_[ended.job.user].add(ended.run_time);
  all_.add(ended.run_time);
  sum_of_logs_ += std::log(std::max(1.0, static_cast<double>(ended.run_time.count())));
}

Prediction PastRuns::of_user(std::uint32_t user) const {
  if (const auto own = by_user_.find(user); own != by_user_.end()) return {own->second.value()};
  if (all_.count > 0) return {all_.value()};
  return {.run_time = unknown_duration, .blind = true};
}

Prediction PastRuns::typical() const {
  if (all_.count == 0) return {.run_time = unknown_duration, .blind = true};
  return {FractionalSeconds(std::exp(sum_of_logs_ / static_cast<double>(all_.count)))};
}

}  // namespace schedmate::policy
