// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lines of one shape as a table: what stands at each place, without knowing what it is.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "log/lines/clean.hpp"
#include "log/progress/log_words.hpp"

namespace schedmate::progress {

/// A number of a line; "3/100" and "0.5 (0.6)" are two places each.
struct LinePlace {
  double value = 0;
  bool whole = false;
  bool percent = false;
  bool clock = false;            ///< value in seconds
  bool total = false;            ///< behind the stroke of the place before
  std::string key;               ///< plain words in front of it
  std::string unit;              ///< as printed
  std::optional<double> unit_s;  ///< seconds of its unit, where it is one of time
};

struct ShapeLine {
  std::vector<LinePlace> places;
  std::optional<lines::Stamp> time;
  std::optional<double> step;  ///< by the rules
};

[[nodiscard]] std::vector<LinePlace> places_of(std::string_view text);

/// Its unit or its words say that it is a time.
[[nodiscard]] bool is_time_place(const LinePlace& place, const LogWords& words);

/// Its words say that it is something else than a step, a loss or a time.
[[nodiscard]] bool is_other_place(const LinePlace& place, const LogWords& words);

}  // namespace schedmate::progress
