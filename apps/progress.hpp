// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A bar on standard error for work that has lasted over a second. Calls may come from any thread.

#include <chrono>
#include <mutex>
#include <string>

namespace schedmate {

class ProgressBar {
 public:
  /// Not `enabled`: draws nothing.
  ProgressBar(std::string what, bool enabled);
  ~ProgressBar();  ///< wipes the bar
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// `done` from 0 to 1.
  void show(double done);

 private:
  using Clock = std::chrono::steady_clock;
  std::string what_;
  bool enabled_;
  bool drawn_ = false;
  Clock::time_point next_;
  std::mutex mutex_;
};

}  // namespace schedmate
