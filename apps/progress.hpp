// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A bar on standard error for work that has lasted over a second. Calls may come from any thread.

#include <chrono>
#include <mutex>
#include <string>

namespace schedmate {

class Progress {
 public:
  /// Not `enabled`: draws nothing.
  Progress(std::string what, bool enabled);
  ~Progress();  ///< wipes the bar
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

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
