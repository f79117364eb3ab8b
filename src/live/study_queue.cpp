// SPDX-License-Identifier: Apache-2.0
#include "live/study_queue.hpp"

#include <algorithm>

namespace schedmate::live {

void StudyQueue::want(const Key& key, SimTime when) {
  if (busy_.contains(key)) {
    ++counts_.skipped;
    return;
  }
  const auto [found, fresh] = when_.try_emplace(key, when);
  if (!fresh && found->second <= when) return;
  Wishes& wishes = wishes_.at(urgency(key));
  if (!fresh) wishes.erase({found->second, key});
  found->second = when;
  wishes.emplace(when, key);
}

void StudyQueue::drop(const Key& key) {
  const auto found = when_.find(key);
  if (found == when_.end()) return;
  wishes_.at(urgency(key)).erase({found->second, key});
  when_.erase(found);
}

void StudyQueue::forget(std::uint64_t attempt) {
  for (const Study::What what : {Study::What::code, Study::What::log, Study::What::failure}) {
    const Key key{attempt, what};
    drop(key);
    tries_.erase(key);
    const auto busy = busy_.find(key);
    if (busy == busy_.end()) continue;
    out_.erase(busy->second);
    busy_.erase(busy);
  }
}

std::vector<StudyQueue::Key> StudyQueue::give_up(SimTime now) {
  std::vector<Key> silent;
  for (const auto& [number, out] : out_) {
    if (now - out.asked < options_.given_up) break;  // nor are those that came later
    silent.push_back(out.key);
  }
  for (const Key& key : silent) {
    out_.erase(busy_.at(key));
    busy_.erase(key);
  }
  return silent;
}

std::vector<StudyQueue::Due> StudyQueue::take(SimTime now) {
  std::vector<Due> due;
  for (Wishes& wishes : wishes_)
    while (out_.size() < options_.most_out && !wishes.empty() && wishes.begin()->first <= now) {
      const Key key = wishes.begin()->second;
      drop(key);
      out_[++numbers_] = {key, now};
      busy_[key] = numbers_;
      due.push_back({numbers_, key});
    }
  return due;
}

std::optional<StudyQueue::Answered> StudyQueue::returned(std::uint64_t number) {
  const auto found = out_.find(number);
  if (found == out_.end()) {
    ++counts_.late;
    return std::nullopt;
  }
  const Answered answered = found->second;
  busy_.erase(answered.key);
  out_.erase(found);
  ++counts_.made;
  return answered;
}

bool StudyQueue::again(const Key& key, SimTime now) {
  ++counts_.failed;
  const int tries = ++tries_[key];
  if (tries >= options_.tries) return false;
  want(key, now + options_.again * (1 << (tries - 1)));
  return true;
}

SimTime StudyQueue::next() const {
  SimTime next = never;
  if (!out_.empty()) next = out_.begin()->second.asked + options_.given_up;
  if (out_.size() >= options_.most_out) return next;
  for (const Wishes& wishes : wishes_)
    if (!wishes.empty()) next = std::min(next, wishes.begin()->first);
  return next;
}

}  // namespace schedmate::live
