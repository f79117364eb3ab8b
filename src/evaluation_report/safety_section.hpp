// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which arms with advice are safe, counted by what that says, and those that are not.

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "evaluation_report/figure_rows.hpp"
#include "evaluation_report/page.hpp"

namespace schedmate::evaluation_report {

enum class SafetyVerdict : std::uint8_t { none, safe, exceeds };

/// Of an arm with advice: each of its bounds has to hold.
[[nodiscard]] SafetyVerdict verdict_of(const ArmRows& arm);

/// "fig12_venus_heavy, venus".
[[nodiscard]] std::string place_of(const Chapter& chapter, const study::FigureRow& row);

/// Arms that exceed their bound, the points of a sweep in one line.
class ExceededBounds {
 public:
  void add(const Chapter& chapter, const std::vector<ArmRows>& arms, const ArmRows& arm);
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  struct Line {
    std::string place, setting, arm, points;
  };
  std::vector<Line> lines_;
};

/// Counts each arm once: of a sweep it is safe when it is at every point.
class SafetyCount {
 public:
  /// `arms`: all of the trace; the verdict is that of `arm`.
  void add(const Chapter& chapter, const std::vector<ArmRows>& arms, const ArmRows& arm,
           SafetyVerdict verdict);
  void write(Page& report) const;

 private:
  /// What a verdict says something of.
  enum class Kind : std::uint8_t { advised, control, other, elastic, elastic_given };
  using Group = std::tuple<std::string, std::string, std::string>;  ///< host, trace, recipe
  struct Arm {
    Kind kind;
    Group group;
    bool safe = true;
  };

  static Kind kind_of(const Chapter& chapter, const std::vector<ArmRows>& arms, const ArmRows& arm);
  [[nodiscard]] std::string count(Kind kind, const Group* group = nullptr) const;

  std::map<std::string, Arm> arms_;  ///< by place and label
  std::vector<Group> groups_;        ///< as they came
  ExceededBounds exceeding_;
};

}  // namespace schedmate::evaluation_report
