// SPDX-License-Identifier: Apache-2.0
#include "evaluation_report/curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/text_safety.hpp"

namespace schedmate::evaluation_report {
namespace {

constexpr double width = 720, height = 360;                       // of the drawing
constexpr double left = 60, right = 700, top = 50, bottom = 280;  // of the axes
constexpr double text_row = 14;                                   // of text
constexpr double beside = 3;  // between curves at one x, between a line and its name
constexpr auto colours =
    std::to_array<std::string_view>({"#1668c1", "#c1121f", "#2a7f3f", "#8a4fbf", "#b36b00"});

/// Where values stand in the drawing.
class Axes {
 public:
  explicit Axes(const Curve& curve) : low_(curve.level), high_(curve.level) {
    for (const CurveLine& line : curve.lines)
      for (const CurvePoint& point : line.points) {
        low_ = std::min({low_, point.value, std::isnan(point.low) ? low_ : point.low});
        high_ = std::max({high_, point.value, std::isnan(point.high) ? high_ : point.high});
        if (point.x > 0) least_ = std::min(least_, point.x);
        most_ = std::max(most_, point.x);
        has_zero_ = has_zero_ || point.x <= 0;
      }
    const double room = high_ > low_ ? (high_ - low_) / 10 : 1;
    low_ -= room;
    high_ += room;
  }
  [[nodiscard]] bool empty() const { return !(least_ < most_); }
  [[nodiscard]] double least() const { return least_; }
  [[nodiscard]] double most() const { return most_; }
  [[nodiscard]] bool has_zero() const { return has_zero_; }
  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double high() const { return high_; }

  [[nodiscard]] double x(double value) const {
    const double from = std::log10(least_) - (has_zero_ ? 1 : 0);  // 0: a decade before the least
    const double at = value > 0 ? std::log10(value) : from;
    return left + (right - left) * (at - from) / (std::log10(most_) - from);
  }
  [[nodiscard]] double y(double value) const {
    return bottom - (bottom - top) * (value - low_) / (high_ - low_);
  }

 private:
  double low_, high_;
  double least_ = INFINITY, most_ = 0;
  bool has_zero_ = false;
};

std::string text_at(double x, double y, std::string_view anchor, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     html_escape(text));
}

struct Point {
  double x, y;
};

std::string line_of(Point from, Point to, std::string_view style = "") {
  return fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" stroke=\"currentColor\"{}/>\n",
                     from.x, from.y, to.x, to.y, style);
}

std::string frame_of(const Curve& curve, const Axes& axes) {
  std::string out = line_of({left, bottom}, {right, bottom}) +
                    line_of({left, top}, {left, bottom}) +
                    line_of({left, axes.y(curve.level)}, {right, axes.y(curve.level)},
                            " stroke-dasharray=\"2 3\"");
  if (axes.has_zero()) out += text_at(left, bottom + text_row, "middle", "0");
  constexpr double decade = 10;
  for (double x = std::pow(decade, std::ceil(std::log10(axes.least()))); x <= axes.most();
       x *= decade)
    out += text_at(axes.x(x), bottom + text_row, "middle", fmt::format("{:g}", x)) +
           line_of({axes.x(x), bottom}, {axes.x(x), bottom + beside});
  const double step = std::pow(decade, std::floor(std::log10(axes.high() - axes.low()))) / 2;
  for (double y = std::ceil(axes.low() / step) * step; y <= axes.high(); y += step)
    out += text_at(left - beside, axes.y(y) + beside, "end", fmt::format("{:.3g}", y));
  return out + text_at(right, bottom + 2 * text_row, "end", curve.x_title) +
         text_at(left, top - 2 * text_row, "start", curve.y_title);
}

std::string marks_of(const Curve& curve, const Axes& axes) {
  std::string out;
  double y = top - 2 * text_row;
  for (const CurveMark& mark : curve.marks) {
    const double x = axes.x(mark.x);
    out += line_of({x, y}, {x, bottom}, " stroke-opacity=\".4\"") +
           text_at(x - beside, y, "end", mark.name);
    y += text_row;
  }
  return out;
}

/// `index`: of the curve, which stands a little beside the others.
std::string curve_of(const CurveLine& line, const Axes& axes, std::size_t index) {
  const std::string_view colour = colours[index % colours.size()];
  std::string path, points;
  for (const CurvePoint& point : line.points) {
    const double x = axes.x(point.x) + beside * static_cast<double>(index);
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x, axes.y(point.value));
    if (!std::isnan(point.low))
      points += fmt::format("<path d=\"M{0:.1f} {1:.1f}L{0:.1f} {2:.1f}\" stroke=\"{3}\"/>\n", x,
                            axes.y(point.low), axes.y(point.high), colour);
    points += fmt::format(
        "<a href=\"{}\"><circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"><title>{}: {:g}: "
        "{:.3f}</title></circle></a>\n",
        html_escape(point.link), x, axes.y(point.value), colour, html_escape(line.name), point.x,
        point.value);
  }
  constexpr double column = 150;
  const double name_x = left + column * static_cast<double>(index);
  return fmt::format("<path d=\"{}\" stroke=\"{}\" fill=\"none\"/>\n", path, colour) + points +
         fmt::format("<g fill=\"{}\">{}</g>\n", colour,
                     text_at(name_x, bottom + 4 * text_row, "start", line.name));
}

}  // namespace

std::string svg_of(const Curve& curve) {
  const Axes axes(curve);
  if (axes.empty()) return "";
  std::string out = fmt::format(
      "<svg viewBox=\"0 0 {:g} {:g}\" width=\"{:g}\" font-size=\"11\" fill=\"currentColor\">\n",
      width, height, width);
  out += frame_of(curve, axes) + marks_of(curve, axes);
  for (std::size_t i = 0; i < curve.lines.size(); ++i) out += curve_of(curve.lines[i], axes, i);
  return out + "</svg>\n";
}

}  // namespace schedmate::evaluation_report
