// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Curves with intervals over a logarithmic axis, as a drawing in a page.

#include <cstddef>
#include <string>
#include <vector>

namespace schedmate::evaluation_report {

struct CurvePoint {
  double x, low, value, high;
  std::string link;  ///< where the value stands
};
struct CurveLine {
  std::string name;
  std::vector<CurvePoint> points;  ///< by x
};
struct CurveMark {
  double x;
  std::string name;
};
struct Curve {
  std::string x_title, y_title;
  std::vector<CurveLine> lines;
  std::vector<CurveMark> marks;  ///< upright, named
  double level = 1;              ///< a line across
};

/// SVG; "" when no x lies above 0. An x of 0 stands at the left end.
[[nodiscard]] std::string svg_of(const Curve& curve);

}  // namespace schedmate::evaluation_report
