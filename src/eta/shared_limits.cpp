// SPDX-License-Identifier: Apache-2.0
#include "eta/shared_limits.hpp"

#include <algorithm>
#include <limits>

namespace schedmate::eta {

std::vector<SharedLimit> limits_left_to(const QueueSnapshot& snapshot, std::uint32_t pool) {
  std::vector<SharedLimit> left = snapshot.limits;
  if (left.empty()) return left;
  for (const SnapshotJob& job : snapshot.jobs) {
    if (!job.started || job.pool == pool) continue;
    for (const std::uint32_t limit : job.limits) {
      if (limit >= left.size()) continue;  // forecast_queue() says so
      if (left[limit].gpus) *left[limit].gpus -= job.gpus;
      if (left[limit].jobs) --*left[limit].jobs;
    }
  }
  return left;
}

Admission::Admission(const QueueSnapshot& snapshot, std::uint32_t pool,
                     std::span<const SnapshotJob> jobs, bool at_start)
    : jobs_(jobs), at_start_(at_start && !snapshot.limits.empty()) {
  constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max() / 2;
  for (const SharedLimit& limit : limits_left_to(snapshot, pool))
    whole_.push_back({limit.gpus.value_or(no_limit), limit.jobs.value_or(no_limit)});
  left_ = whole_;
  for (std::uint32_t i = 0; i < jobs_.size(); ++i)
    if (jobs_[i].started) take(i, 1);
}

void Admission::take(std::uint32_t job, std::int64_t sign) {
  for (const std::uint32_t limit : jobs_[job].limits) {
    left_[limit].gpus -= sign * jobs_[job].gpus;
    left_[limit].jobs -= sign;
  }
}

std::optional<std::uint32_t> Admission::first_full(std::uint32_t job,
                                                   std::span<const Room> rooms) const {
  const auto& limits = jobs_[job].limits;
  const auto full = std::ranges::find_if(
      limits, [&](std::uint32_t limit) { return !rooms[limit].holds(jobs_[job].gpus); });
  return full == limits.end() ? std::nullopt : std::optional(*full);
}

std::optional<std::uint32_t> Admission::never_room_for(std::uint32_t job) const {
  return first_full(job, whole_);
}

std::optional<std::uint32_t> Admission::no_room_for(std::uint32_t job) const {
  return first_full(job, left_);
}

void Admission::enter(std::uint32_t job) {
  waiting_.insert(std::ranges::upper_bound(waiting_, job), job);
  is_new_ = true;
}

void Admission::ended(std::uint32_t job) {
  if (whole_.empty()) return;
  take(job, -1);
  is_new_ = is_new_ || !jobs_[job].limits.empty();
}

void Admission::admit(std::vector<std::uint32_t>& admitted) {
  if (!is_new_) return;
  is_new_ = false;
  std::erase_if(waiting_, [&](std::uint32_t job) {
    if (!at_start_ && no_room_for(job)) return false;
    if (!at_start_) take(job, 1);
    admitted.push_back(job);
    return true;
  });
}

}  // namespace schedmate::eta
