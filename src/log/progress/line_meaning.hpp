// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Whether the lines of a shape confirm what somebody says about its places. What is only possible
/// does not count: a step has to rise as no other number does, a time needs a clock or a unit.

#include <schedmate/line_shape.hpp>
#include <span>

#include "log/progress/series.hpp"
#include "log/progress/shape_lines.hpp"

namespace schedmate::progress {

struct ShapeProgress {
  CheckedMeaning checked;
  std::optional<double> step, total, epoch, loss;  ///< of the last line
  std::optional<StepTime> step_time;               ///< by the place of the time, else by the stamps
};

/// Lines with another number of places than most are left out.
[[nodiscard]] ShapeProgress check_meaning(std::span<const ShapeLine> lines,
                                          const LineMeaning& claimed, const LogWords& words);

}  // namespace schedmate::progress
