// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The step of lines that do not name it: the number that counts up evenly from line to line of one
/// shape ("[3] train-mlogloss:1.06"). A shape keeps each number a place of its own, so that the one
/// that counts up can be found; a template (log/lines/template.hpp) says which event a line is, and
/// there paths, names and whole words with digits are one thing: hence two normal forms of a line.

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "log/progress/reading.hpp"

namespace schedmate::progress {

/// Equal for lines that differ in numbers and blanks only.
[[nodiscard]] std::uint64_t shape_of(std::string_view line);

/// Nothing but numbers, a count and a fraction among them: "463 5.846".
[[nodiscard]] bool is_bare_row(std::string_view line);

class Shapes {
 public:
  /// The line, and those of its shape that waited for it, with their steps; none as long as it is
  /// not sure which number counts.
  [[nodiscard]] std::vector<Reading> add(std::string_view line, const Reading& reading);

 private:
  struct Waiting {
    Reading reading;
    std::vector<double> counts;  ///< whole numbers of the line by place, -1 for others
    std::vector<std::optional<double>> totals;  ///< of "count/total", by place
  };
  struct Shape {
    std::uint64_t hash = 0;
    int place = -1;       ///< of the number that counts; -1: not known yet
    bool by_one = false;  ///< it goes up by one
    std::deque<Waiting> waiting;
  };

  Shape& shape(std::uint64_t hash);
  [[nodiscard]] static bool is_double(const std::deque<Waiting>& waiting);

  std::deque<Shape> shapes_;
};

}  // namespace schedmate::progress
