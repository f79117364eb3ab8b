// SPDX-License-Identifier: Apache-2.0
#include "http/user_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace schedmate::http {
namespace {

constexpr std::chrono::minutes kept{10};
constexpr std::size_t most_known = 16384;
constexpr std::size_t most_queued = 1024;

}  // namespace

UserNames::UserNames(Ways ways) : ways_(std::move(ways)) {
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

UserNames::~UserNames() {
  thread_.request_stop();
  wanted_.notify_all();
}

std::optional<std::string> UserNames::find(uid_t uid) {
  const std::scoped_lock lock(mutex_);
  const auto found = known_.find(uid);
  const bool is_old = found == known_.end() || ways_.clock.now() > found->second.until;
  const bool is_queued = std::ranges::find(queue_, uid) != queue_.end();
  if (is_old && !is_queued && queue_.size() < most_queued) {
    queue_.push_back(uid);
    wanted_.notify_one();
  }
  if (found == known_.end()) return std::nullopt;
  return found->second.name;
}

void UserNames::work(const std::stop_token& stop) {
  while (true) {
    uid_t uid = 0;
    {
      std::unique_lock lock(mutex_);
      if (!wanted_.wait(lock, stop, [this] { return !queue_.empty(); })) return;
      uid = queue_.front();
    }
    std::string name = ways_.ask ? ways_.ask(uid) : "";
    if (name.empty()) name = fmt::format("uid:{}", uid);
    {
      const std::scoped_lock lock(mutex_);
      if (known_.size() >= most_known) known_.clear();
      known_.insert_or_assign(uid, Known{std::move(name), ways_.clock.now() + kept});
      queue_.pop_front();
    }
    ways_.found();
  }
}

}  // namespace schedmate::http
