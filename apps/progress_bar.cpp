// SPDX-License-Identifier: Apache-2.0
#include "apps/progress_bar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <utility>

namespace schedmate {
namespace {

constexpr std::chrono::seconds patience{1};
constexpr std::chrono::milliseconds redraw_interval{100};

class ProgressBar {
 public:
  ProgressBar(const Console& console, std::string what, const Clock& clock)
      : console_(console), what_(std::move(what)), clock_(clock), next_(clock.now() + patience) {}
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar() {
    if (drawn_) console_.draw("\r\033[K");
  }

  void show(double done) {
    const std::scoped_lock lock(mutex_);
    const auto now = clock_.now();
    if (now < next_) return;
    next_ = now + redraw_interval;
    drawn_ = true;
    constexpr int width = 40;
    const double share = std::clamp(done, 0.0, 1.0);
    const int filled = static_cast<int>(share * width);
    console_.draw(fmt::format("\r{} [{:#<{}}{:.<{}}] {:3.0f} %", what_, "", filled, "",
                              width - filled, share * 100));
  }

 private:
  const Console& console_;
  std::string what_;
  Clock clock_;
  std::chrono::nanoseconds next_;  // when it may be drawn again
  bool drawn_ = false;
  std::mutex mutex_;
};

}  // namespace

settings::BeginProgress progress_bars(const Console* console, const Clock& clock) {
  if (console == nullptr) return settings::no_progress;
  return [console, clock](const std::string& what) -> settings::ShowProgress {
    return [bar = std::make_shared<ProgressBar>(*console, what, clock)](double done) {
      bar->show(done);
    };
  };
}

}  // namespace schedmate
