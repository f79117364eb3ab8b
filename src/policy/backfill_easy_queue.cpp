// SPDX-License-Identifier: Apache-2.0
#include "policy/backfill_easy_queue.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace schedmate::policy {
namespace {
constexpr Seconds gone = Seconds::max();
}

std::size_t WaitingLine::leaf_of(JobId id) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(ids_, id) - ids_.begin());
}

void WaitingLine::set(std::size_t leaf, Seconds run_time) {
  std::size_t at = least_.size() / 2 + leaf;
  least_[at] = run_time;
  for (at /= 2; at > 0; at /= 2) least_[at] = std::min(least_[2 * at], least_[2 * at + 1]);
}

void WaitingLine::push(JobId id, Seconds run_time) {
  if (!ids_.empty() && id <= ids_.back()) return put_between(id, run_time);
  if (ids_.size() == least_.size() / 2) make_room();
  ids_.push_back(id);
  set(ids_.size() - 1, run_time);
}

void WaitingLine::put_between(JobId id, Seconds run_time) {
  const std::size_t leaf = leaf_of(id);
  if (ids_[leaf] == id) return set(leaf, run_time);
  const std::vector<JobId> ids = std::exchange(ids_, {});
  const std::vector<Seconds> least = std::exchange(least_, {});
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i == leaf) push(id, run_time);
    if (const Seconds each = least[least.size() / 2 + i]; each != gone) push(ids[i], each);
  }
}

void WaitingLine::remove(JobId id) { set(leaf_of(id), gone); }

/// At least half of the new leaves are empty, so each is paid for by as many pushes.
void WaitingLine::make_room() {
  const std::vector<JobId> ids = std::exchange(ids_, {});
  const std::vector<Seconds> least = std::exchange(least_, {});
  const Seconds* const leaves = least.data() + least.size() / 2;
  std::size_t waiting = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) waiting += leaves[i] != gone ? 1 : 0;
  least_.resize(2 * std::bit_ceil(2 * waiting + 2), gone);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (leaves[i] == gone) continue;
    least_[least_.size() / 2 + ids_.size()] = leaves[i];
    ids_.push_back(ids[i]);
  }
  for (std::size_t at = least_.size() / 2 - 1; at > 0; --at) {
    least_[at] = std::min(least_[2 * at], least_[2 * at + 1]);
  }
}

std::optional<JobId> WaitingLine::first(JobId from, Seconds longest) const {
  if (ids_.empty() || least_[1] > longest) return std::nullopt;
  const std::size_t leaves = least_.size() / 2;
  std::size_t at = leaves + leaf_of(from);
  if (at == least_.size()) return std::nullopt;
  // Up to the first subtree to the right with such a job, then down to its leftmost one.
  while (least_[at] > longest) {
    while (at % 2 == 1) at /= 2;
    if (at == 0) return std::nullopt;
    ++at;
  }
  while (at < leaves) at = 2 * at + (least_[2 * at] <= longest ? 0 : 1);
  return ids_[at - leaves];
}

}  // namespace schedmate::policy
