// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Progress from lines as they come, in bounded memory (paper 3.2, Metric Tracker).

#include <deque>
#include <map>
#include <optional>
#include <schedmate/progress.hpp>
#include <string>
#include <string_view>

#include "log/reading.hpp"
#include "log/series.hpp"

namespace schedmate {

class ProgressTracker {
 public:
  explicit ProgressTracker(const LogWords& words = LogWords::built_in()) : words_(words) {}

  /// One raw line, without its end.
  void add(std::string_view line);
  [[nodiscard]] Progress now() const;
  /// Training progress lines so far.
  [[nodiscard]] std::uint64_t lines() const { return lines_; }

 private:
  /// The reports of one counter.
  struct Counter {
    std::deque<Sample> samples;
    Reading last;
    bool has_loss = false;
    std::uint64_t newest = 0;  ///< number of its last line
    std::string text;
  };

  void add_state(std::string_view state);
  void take(Reading reading, std::string_view body);
  bool add_to_block(const Reading& reading);
  void count(Reading& reading, std::string_view body);
  void remember_checkpoint(std::string_view body);
  [[nodiscard]] const Counter* main_counter() const;

  const LogWords& words_;
  std::map<std::string, Counter> counters_;
  std::uint64_t lines_ = 0;
  std::vector<TimeField> loose_;  ///< times of lines without a counter, for the next that has one
  std::optional<double> loose_rate_;
  Reading block_;            ///< what lines of one number each have said so far
  Counter* open_ = nullptr;  ///< the counter whose report the next such lines belong to
  std::optional<double> loss_, epoch_, total_epochs_, checkpoint_step_, closing_step_s_;
  std::optional<double> closing_runtime_s_;
  std::optional<Throughput> throughput_;
  std::string last_text_, scratch_;
};

}  // namespace schedmate
