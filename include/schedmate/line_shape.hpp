// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lines that no rule can read.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace schedmate {

/// Lines of one shape (they differ in numbers only) that the rules cannot read.
struct LineShape {
  std::uint64_t hash = 0;          ///< of what they have in common; the same in every log
  std::vector<std::string> lines;  ///< some, one after the other; without stamps and ranks
  std::vector<std::vector<double>> numbers;  ///< of each line, by place from the left, from 0
};

/// What a printed time is the time of.
enum class TimeCover : std::uint8_t { one_step, since_report, since_start };

/// Which place of a shape holds what; an empty one: none does.
struct LineMeaning {
  std::optional<std::size_t> step{}, total{}, epoch{}, loss{}, time{};
  double time_unit_s = 1;
  TimeCover covers = TimeCover::one_step;
  bool operator==(const LineMeaning&) const = default;
  [[nodiscard]] bool empty() const { return !step && !total && !epoch && !loss && !time; }
};

/// What the lines of a shape bear out of what was said about them.
struct CheckedMeaning {
  LineMeaning kept;
  std::vector<std::string> dropped;  ///< what does not count, and why
};

/// Someone who may know how to read lines that no rule knows, as a language model. What it says is
/// held against all lines of the shape before it counts, and never replaces what the rules found.
class ShapeReader {
 public:
  virtual ~ShapeReader() = default;
  /// Asked at most once for each shape of a log, and about few. Nothing: not known.
  virtual std::optional<LineMeaning> read(const LineShape& shape) = 0;
  /// What became of the answer, for whoever remembers it.
  virtual void settle(const LineShape& shape, const CheckedMeaning& checked) = 0;
};

}  // namespace schedmate
