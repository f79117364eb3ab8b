// SPDX-License-Identifier: Apache-2.0
#include "policy/quota_queue.hpp"

#include <algorithm>

namespace schedmate::policy {

void QuotaQueue::put(JobId id, const Place& place) {
  places_[id] = place;
  const Entry entry{place.key, place.order, id, place.gpus};
  if (place.running) {
    running_.insert(std::lower_bound(running_.begin(), running_.end(), entry), entry);
  } else {
    waiting_[place.gpus].insert(entry);
  }
}

void QuotaQueue::wait(JobId id, int gpus, double key) { put(id, {key, order_++, gpus, false}); }

void QuotaQueue::run(JobId id, int gpus, double key) { put(id, {key, order_++, gpus, true}); }

void QuotaQueue::remove(JobId id) {
  const Place place = places_.at(id);
  places_.erase(id);
  const Entry entry{place.key, place.order, id, place.gpus};
  if (place.running) {
    running_.erase(std::lower_bound(running_.begin(), running_.end(), entry));
  } else {
    waiting_[place.gpus].erase(entry);
  }
}

void QuotaQueue::rekey(JobId id, double key) {
  Place place = places_.at(id);
  remove(id);
  place.key = key;
  put(id, place);
}

/// The waiting job that comes first among those the quota covers, or null.
QuotaQueue::Head* QuotaQueue::best_head(int quota) {
  Head* best = nullptr;
  for (Head& head : heads_) {
    if (head.gpus > quota || head.next == head.end) continue;
    if (best == nullptr || *head.next < *best->next) best = &head;
  }
  return best;
}

const QuotaQueue::Choice& QuotaQueue::choose(int quota, Rule rule) {
  choice_.start.clear();
  choice_.preempt.clear();
  heads_.clear();
  for (const auto& [gpus, line] : waiting_) heads_.push_back({line.begin(), line.end(), gpus});
  Head* best = best_head(quota);
  const auto take_waiting = [&] {
    quota -= best->gpus;
    choice_.start.push_back(best->next->id);
    ++best->next;
    best = best_head(quota);
  };
  for (const Entry& job : running_) {
    const double key = job.key + rule.running_offset;
    while (best != nullptr &&
           (best->next->key < key || (rule.waiting_first && best->next->key == key))) {
      take_waiting();
    }
    if (job.gpus > quota) {
      choice_.preempt.push_back(job.id);
      continue;
    }
    quota -= job.gpus;
    if (best != nullptr && best->gpus > quota) best = best_head(quota);
  }
  while (best != nullptr) take_waiting();
  return choice_;
}

}  // namespace schedmate::policy
