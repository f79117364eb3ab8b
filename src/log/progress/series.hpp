// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The progress lines of one counter, and the time of one step that follows from them.

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "log/progress/reading.hpp"

namespace schedmate::progress {

/// One step that was reported.
struct StepSample {
  double step = 0;
  std::optional<double> epoch;
  std::optional<lines::Stamp> time;
  std::vector<TimeField> times;
  std::optional<double> rate_s;  ///< seconds of one step by a printed rate
  double arrived_s = 0;          ///< by the follower's clock
  std::optional<double> eta_s;   ///< seconds of one step by what is said to be left
  double per_epoch = 0;          ///< steps of its epoch, of a counter that restarts; 0: unknown
};

struct StepTime {
  double seconds = 0;
  std::string by;  ///< "time: of one step", "bar", "time stamps", ...
};

/// Of the samples of one counter, oldest first. Nothing when no reading stands a check.
[[nodiscard]] std::optional<StepTime> step_time_of(const std::deque<StepSample>& samples);

/// The time of one step by the clock of the lines alone.
[[nodiscard]] std::optional<double> step_by_stamps(const std::deque<StepSample>& samples);

/// By the last few of them, read in the same way; by more of them where the clock is coarse.
[[nodiscard]] std::optional<double> recent_step_s(const std::deque<StepSample>& samples,
                                                  const StepTime& whole);

/// Within that factor of each other, either way.
constexpr bool near(double a, double b, double factor) { return a < b * factor && b < a * factor; }

}  // namespace schedmate::progress
