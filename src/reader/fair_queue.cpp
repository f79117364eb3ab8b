// SPDX-License-Identifier: Apache-2.0
#include "reader/fair_queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/words.hpp"

namespace schedmate::reader {
namespace {

constexpr double minute_s = 60;

double in_seconds(std::chrono::nanoseconds span) {
  return std::chrono::duration<double>(span).count();
}

tl::unexpected<Error> busy(const std::string& why) {
  return fail(ErrorCode::unavailable, "the reader is busy: " + why);
}

}  // namespace

void FairQueue::pay_back(User& user, Instant now) const {
  const double share = std::max(0.0, in_seconds(now - user.paid)) / minute_s;
  user.paid = now;
  user.cpu_s = std::max(0.0, user.cpu_s - (share * in_seconds(quotas_.cpu_per_minute)));
  user.bytes = std::max(0.0, user.bytes - (share * static_cast<double>(quotas_.bytes_per_minute)));
}

bool FairQueue::has_used_up(const User& user) const {
  return user.cpu_s >= in_seconds(quotas_.cpu_per_minute) ||
         user.bytes >= static_cast<double>(quotas_.bytes_per_minute);
}

double FairQueue::seconds_left(const User& user) const {
  const double cpu = user.cpu_s / in_seconds(quotas_.cpu_per_minute);
  const double bytes = user.bytes / static_cast<double>(quotas_.bytes_per_minute);
  return std::ceil(minute_s * std::max(0.0, std::max(cpu, bytes) - 1)) + 1;
}

Result<void> FairQueue::add(Waiting waiting, Instant now) {
  prune(now);
  if (count_ >= quotas_.waiting || bytes_ + waiting.line.size() > quotas_.waiting_bytes)
    return busy(fmt::format("{} wait already", counted(count_, "request")));
  User& user = users_[waiting.user];
  pay_back(user, now);
  if (has_used_up(user))
    return busy(fmt::format(
        "what was read for {} has used {:.0f} s of CPU time and {:.0f} MiB of reading, of {:.0f} s "
        "and {:.0f} MiB a minute; try again in {:.0f} s",
        waiting.user, user.cpu_s, user.bytes / (1U << 20U), in_seconds(quotas_.cpu_per_minute),
        static_cast<double>(quotas_.bytes_per_minute) / (1U << 20U), seconds_left(user)));
  if (user.waiting.size() >= quotas_.waiting_of_user)
    return busy(fmt::format("{} of {} wait already", counted(user.waiting.size(), "request"),
                            waiting.user));
  if (user.waiting.empty()) turns_.push_back(waiting.user);
  ++count_;
  bytes_ += waiting.line.size();
  user.waiting.push_back(std::move(waiting));
  return {};
}

Waiting FairQueue::take_front(User& user) {
  Waiting first = std::move(user.waiting.front());
  user.waiting.pop_front();
  --count_;
  bytes_ -= first.line.size();
  return first;
}

std::optional<Waiting> FairQueue::next(Instant now) {
  if (children_ >= quotas_.children) return std::nullopt;
  for (std::size_t looked = turns_.size(); looked > 0; --looked) {
    const std::string name = std::move(turns_.front());
    turns_.pop_front();
    User& user = users_[name];
    pay_back(user, now);
    std::optional<Waiting> found;
    if (user.children < quotas_.children_of_user && !has_used_up(user)) found = take_front(user);
    if (!user.waiting.empty()) turns_.push_back(name);
    if (!found) continue;
    ++user.children;
    ++children_;
    return found;
  }
  return std::nullopt;
}

bool FairQueue::pause(const std::string& name) {
  User& user = users_[name];
  if (paused_ >= quotas_.children || user.paused >= quotas_.children_of_user) return false;
  ++user.paused;
  ++paused_;
  --user.children;
  --children_;
  return true;
}

void FairQueue::go_on(const std::string& name) {
  User& user = users_[name];
  --user.paused;
  --paused_;
  ++user.children;
  ++children_;
}

void FairQueue::ended(const std::string& name, const Used& used, Instant now) {
  User& user = users_[name];
  pay_back(user, now);
  user.cpu_s += in_seconds(used.cpu);
  user.bytes += static_cast<double>(used.bytes);
  --user.children;
  --children_;
}

std::vector<Waiting> FairQueue::late(Instant now) {
  std::vector<Waiting> found;
  for (const std::string& name : turns_) {
    User& user = users_[name];
    while (!user.waiting.empty() && user.waiting.front().due <= now)
      found.push_back(take_front(user));
  }
  std::erase_if(turns_, [&](const std::string& name) { return users_[name].waiting.empty(); });
  return found;
}

void FairQueue::forget_client(std::uint64_t client) {
  for (auto& [name, user] : users_)
    std::erase_if(user.waiting, [&](const Waiting& each) {
      if (each.client != client) return false;
      --count_;
      bytes_ -= each.line.size();
      return true;
    });
  std::erase_if(turns_, [&](const std::string& name) { return users_[name].waiting.empty(); });
}

/// Whoever has nothing here and owes nothing is forgotten; looked for when there are many.
void FairQueue::prune(Instant now) {
  constexpr std::size_t many = 1024;
  if (users_.size() < many) return;
  for (auto& [name, user] : users_) pay_back(user, now);
  std::erase_if(users_, [&](const auto& each) {
    const User& user = each.second;
    return user.waiting.empty() && user.children + user.paused == 0 && user.cpu_s == 0 &&
           user.bytes == 0;
  });
}

}  // namespace schedmate::reader
