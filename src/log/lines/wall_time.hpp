// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Times as schedulers and kernel logs print them, with or without year and zone, and whether one
/// of them lies in a job's time. Two times of which one has no zone are compared as printed.

#include <cstdint>
#include <optional>
#include <string_view>

namespace schedmate::lines {

struct WallTime {
  double seconds = 0;           ///< as printed, counted as if it were UTC
  std::optional<int> offset_s;  ///< east of UTC; 0 for what is UTC
  bool has_year = true;
};

struct FoundTime {
  WallTime time;
  std::size_t length = 0;  ///< characters that it takes
};

/// A date with a time at the beginning of a text: ISO, "Mar  4 12:34:56", "Thu Mar  4 12:34:56
/// 2021".
[[nodiscard]] std::optional<FoundTime> read_wall_time(std::string_view text);

/// As a job file gives it: the same, or seconds since 1970; nothing for "Unknown" and the like.
[[nodiscard]] std::optional<WallTime> read_job_time(std::string_view text);

/// Seconds since 1970, as far as the zone is known.
[[nodiscard]] double unix_seconds(const WallTime& time);

enum class InWindow : std::uint8_t { inside, outside, unknown };

/// When a job ran. What happened up to a minute before its start may have broken it; what the
/// kernel reports up to five minutes behind its end may come from it.
struct JobWindow {
  static constexpr double before_s = 60;
  static constexpr double after_s = 300;
  std::optional<WallTime> start, end;

  [[nodiscard]] bool known() const { return start || end; }
  [[nodiscard]] InWindow place(const std::optional<WallTime>& time) const;
};

}  // namespace schedmate::lines
