// SPDX-License-Identifier: Apache-2.0
#include "apps/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace schedmate {
namespace {
constexpr std::chrono::seconds patience{1};
constexpr std::chrono::milliseconds redraw_interval{100};
}  // namespace

ProgressBar::ProgressBar(std::string what, bool enabled)
    : what_(std::move(what)),
      enabled_(enabled),
      next_(enabled ? Clock::now() + patience : Clock::time_point()) {}

void ProgressBar::show(double done) {
  if (!enabled_) return;
  const std::scoped_lock lock(mutex_);
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + redraw_interval;
  drawn_ = true;
  constexpr int width = 40;
  const double share = std::clamp(done, 0.0, 1.0);
  const int filled = static_cast<int>(share * width);
  fmt::print(stderr, "\r{} [{:#<{}}{:.<{}}] {:3.0f} %", what_, "", filled, "", width - filled,
             share * 100);
}

ProgressBar::~ProgressBar() {
  if (drawn_) fmt::print(stderr, "\r\033[K");
}

}  // namespace schedmate
