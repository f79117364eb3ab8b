// SPDX-License-Identifier: Apache-2.0
#include "evaluation_report/recovery_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.hpp"
#include "evaluation_report/curve.hpp"

namespace schedmate::evaluation_report {
namespace {

/// Mean restart delays of the Acme study (Hu et al., NSDI 2024, Table 3).
struct PublishedDelay {
  std::string_view cause;
  double minutes;
  [[nodiscard]] double seconds() const { return std::round(60 * minutes); }
};
constexpr PublishedDelay published_delays[] = {
    {"NVLink", 95.6}, {"node", 102.8}, {"network", 592.1}};

const PublishedDelay* delay_at(const study::ExperimentFile& experiment, const std::string& point) {
  if (experiment.sweep != "cost.manual_restart_s") return nullptr;
  const auto found = std::ranges::find_if(published_delays, [&](const PublishedDelay& delay) {
    return parse_number<double>(point) == delay.seconds();
  });
  return found == std::end(published_delays) ? nullptr : &*found;
}

bool has_handler(const study::FigureRow& arm) {
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"+fh", "handler=true", "recover=true"},
      [&](std::string_view sign) { return arm.policy.contains(sign); });
}

/// An arm's average JCT ratio at one point.
struct Swept {
  double at;
  std::string point;
  const FigureLine* row;
  [[nodiscard]] bool above() const {
    const study::Interval& interval = row->row.interval;
    return (std::isnan(interval.low) ? interval.value : interval.low) > 1;
  }
  [[nodiscard]] bool below() const {
    const study::Interval& interval = row->row.interval;
    return (std::isnan(interval.high) ? interval.value : interval.high) < 1;
  }
};

/// The arms with a handler by label, their points in order.
std::map<std::string, std::vector<Swept>> handled(const Chapter& chapter,
                                                  const std::string& trace) {
  std::map<std::string, std::vector<Swept>> found;
  for (const ArmRows& arm : arms_of(chapter, trace)) {
    const FigureLine* row = arm.find("jct_ratio");
    const auto at = parse_number<double>(arm.first->at);
    if (row == nullptr || !std::isfinite(row->row.interval.value)) continue;
    if (at && has_handler(*arm.first)) found[arm.first->arm].push_back({*at, arm.first->at, row});
  }
  for (auto& [label, points] : found) std::ranges::sort(points, {}, &Swept::at);
  return found;
}

/// ", WORDS at 0, 60" of the points that the test picks; "" for none.
template <typename Test>
std::string exceptions(const std::vector<Swept>& points, std::string_view words, Test picked) {
  std::string text;
  for (const Swept& each : points)
    if (picked(each)) text += (text.empty() ? fmt::format("; {} at ", words) : ", ") + each.point;
  return text;
}

/// The first point from which on every interval lies above 1, and the one before it.
std::string break_even(const std::vector<Swept>& points, const std::string& setting) {
  const study::FigureRow& arm = points.front().row->row;
  const auto last = std::ranges::find_if_not(points.rbegin(), points.rend(), &Swept::above);
  const auto from = last.base();
  const std::vector<Swept> before(points.begin(), from);
  const std::string odd =
      exceptions(before, "above 1", [](const Swept& each) { return each.above(); }) +
      exceptions(before, "below 1", [](const Swept& each) { return each.below(); });
  const std::string names = fmt::format("{} against {}", arm.arm, arm.host);
  if (from == points.begin())
    return fmt::format("{}: average JCT ratio above 1 (95 %) at every point", names);
  if (from == points.end())
    return fmt::format("{}: no break-even in average JCT up to {} = {}{}", names, setting,
                       points.back().point, odd);
  return fmt::format(
      "{} breaks even in average JCT between {} = {} and {}; from there on every 95 % interval is "
      "above 1{}",
      names, setting, before.back().point, from->point, odd);
}

Curve recovery_curve(const Chapter& chapter,
                     const std::map<std::string, std::vector<Swept>>& arms) {
  Curve curve{swept_name(chapter.experiment), "average JCT of the host / of the arm", {}, {}};
  for (const auto& [label, points] : arms) {
    CurveLine line{label, {}};
    for (const Swept& each : points) {
      const study::Interval& interval = each.row->row.interval;
      line.points.push_back({each.at, interval.low, interval.value, interval.high,
                             fmt::format("{}#L{}", chapter.target, each.row->line)});
    }
    curve.lines.push_back(std::move(line));
  }
  for (const Swept& each : arms.begin()->second)
    if (const auto* delay = delay_at(chapter.experiment, each.point))
      curve.marks.push_back({each.at, fmt::format("{} {:g} min", delay->cause, delay->minutes)});
  return curve;
}

}  // namespace

std::string named_point(const study::ExperimentFile& experiment, const std::string& point) {
  const PublishedDelay* delay = delay_at(experiment, point);
  return delay == nullptr ? point : fmt::format("{} ({})", point, delay->cause);
}

void add_recovery(Page& report, const Chapter& chapter, const std::string& trace) {
  const auto arms = handled(chapter, trace);
  if (arms.empty()) return;
  std::string delays;
  for (const std::string& point : chapter.experiment.points)
    if (const auto* delay = delay_at(chapter.experiment, point))
      delays +=
          fmt::format("{}{} {:g} min", delays.empty() ? "" : ", ", delay->cause, delay->minutes);
  if (!delays.empty())
    report.paragraph(fmt::format(
        "Named points are mean restart delays from Table 3 of the Acme study: {}.", delays));
  std::vector<std::string> lines;
  for (const auto& [label, points] : arms)
    lines.push_back(break_even(points, swept_name(chapter.experiment)));
  report.list(lines);
  report.drawing(svg_of(recovery_curve(chapter, arms)));
}

}  // namespace schedmate::evaluation_report
