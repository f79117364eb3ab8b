// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The seam of whoever may know how to read lines of a log that no rule knows, such as a language
/// model (paper 3.2, Metric Tracker; docs/formats/logs.md). A shape is what lines have in common
/// that differ in numbers only. The tracker asks what the places of a shape hold, and believes an
/// answer only as far as all lines of the shape confirm it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace schedmate {

/// Lines of one shape that the rules cannot read.
struct LineShape {
  /// Of what the lines have in common; the same in every log.
  std::uint64_t hash = 0;
  /// Some of them, one after the other, without stamps and ranks.
  std::vector<std::string> lines;
  /// Of each line, by place from the left, from 0.
  std::vector<std::vector<double>> numbers;
};

/// What a printed time is the time of.
enum class TimeCover : std::uint8_t { one_step, since_report, since_start };

/// Which place of a shape holds what. Empty: no place does.
struct LineMeaning {
  std::optional<std::size_t> step{}, total{}, epoch{}, loss{}, time{};
  /// Of one unit of the printed time, in seconds.
  double time_unit_s = 1;
  TimeCover covers = TimeCover::one_step;
  bool operator==(const LineMeaning&) const = default;
  [[nodiscard]] bool empty() const { return !step && !total && !epoch && !loss && !time; }
};

/// What the lines of a shape confirm of what was said about them.
struct CheckedMeaning {
  LineMeaning kept;
  /// What does not count, and why.
  std::vector<std::string> dropped;
};

/// One log at a time asks it, from the thread that reads the log. What it says never replaces what
/// the rules found.
class ShapeReader {
 public:
  virtual ~ShapeReader() = default;
  /// Asked at most once for each shape of a log, and about few. Empty: not known. May take as long
  /// as a model does.
  virtual std::optional<LineMeaning> read(const LineShape& shape) = 0;
  /// What became of the answer, for whoever remembers it.
  virtual void settle(const LineShape& shape, const CheckedMeaning& checked) = 0;
};

}  // namespace schedmate
