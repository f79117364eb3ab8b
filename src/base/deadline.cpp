// SPDX-License-Identifier: Apache-2.0
#include "base/deadline.hpp"

#include <poll.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace schedmate {

Deadline::Deadline(std::chrono::nanoseconds from_now)
    : timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
  const auto left = std::max(from_now, std::chrono::nanoseconds(1));  // none would switch it off
  const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
  itimerspec at{};
  at.it_value.tv_sec = seconds.count();
  at.it_value.tv_nsec = (left - seconds).count();
  if (timer_ && ::timerfd_settime(timer_.number(), 0, &at, nullptr) != 0) timer_.close();
}

bool Deadline::passed() const {
  if (!timer_) return true;
  pollfd timer{timer_.number(), POLLIN, 0};
  return ::poll(&timer, 1, 0) > 0;
}

bool Deadline::wait_readable(int file) const { return first_readable({file}).has_value(); }

bool Deadline::wait_writable(int file) const { return first({file}, POLLOUT).has_value(); }

std::optional<std::size_t> Deadline::first_readable(std::initializer_list<int> files) const {
  return first(files, POLLIN);
}

std::optional<std::size_t> Deadline::first(std::initializer_list<int> files, short event) const {
  std::vector<pollfd> any;
  for (const int file : files) any.push_back({file, event, 0});
  any.push_back({timer_.number(), POLLIN, 0});
  while (timer_) {
    const int ready = ::poll(any.data(), any.size(), -1);
    if (ready < 0 && errno == EINTR) continue;
    for (std::size_t i = 0; ready > 0 && i < files.size(); ++i)
      if (any[i].revents != 0) return i;
    break;
  }
  return std::nullopt;
}

}  // namespace schedmate
