// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <schedmate/estimator.hpp>

namespace schedmate {
namespace {
std::uint64_t shape(std::uint32_t user, std::int32_t gpus) {
  return (std::uint64_t{user} << 32U) | static_cast<std::uint32_t>(gpus);
}
}  // namespace

void History::add(const Job& job, const Finished& finished) {
  finished_.push_back(finished);
  sum_of_logs_ += std::log(std::max(1.0, static_cast<double>(job.duration.count())));
  by_shape_[shape(job.user, job.gpus)].push_back(job.duration);
  for (Mean* mean : {&by_user_[job.user], &all_}) {
    mean->sum_s += job.duration.count();
    ++mean->count;
  }
}

std::span<const Seconds> History::of(std::uint32_t user, std::int32_t gpus) const {
  const auto found = by_shape_.find(shape(user, gpus));
  if (found == by_shape_.end()) return {};
  return found->second;
}

History::Mean History::of_user(std::uint32_t user) const {
  const auto found = by_user_.find(user);
  return found == by_user_.end() ? Mean{} : found->second;
}

}  // namespace schedmate
