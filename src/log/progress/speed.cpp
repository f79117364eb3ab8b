// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <schedmate/progress.hpp>

namespace schedmate {
namespace {

constexpr std::size_t enough_steady_gaps = 3;

/// Of sorted values, `share` of the way from the least to the largest.
double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto above = std::min(below + 1, sorted.size() - 1);
  const double rest = place - static_cast<double>(below);
  return sorted[below] * (1 - rest) + sorted[above] * rest;
}

/// Pairs of reports between which the counter went forward and time passed.
template <class Take>
void each_gap(std::span<const Report> reports, const Take& take) {
  for (std::size_t i = 1; i < reports.size(); ++i) {
    const double steps = reports[i].step - reports[i - 1].step;
    const double seconds = reports[i].at_s - reports[i - 1].at_s;
    if (steps > 0 && seconds > 0) take(reports[i - 1], reports[i]);
  }
}

std::optional<Speed> speed_of(std::span<const Report> reports) {
  std::vector<double> each;
  double steps = 0;
  each_gap(reports, [&](const Report& from, const Report& to) {
    each.push_back((to.step - from.step) / (to.at_s - from.at_s));
    steps += to.step - from.step;
  });
  if (each.size() < enough_steady_gaps) return std::nullopt;
  std::ranges::sort(each);
  const double middle = quantile(each, 0.5);
  return Speed{middle, steps, (quantile(each, 0.75) - quantile(each, 0.25)) / middle};
}

}  // namespace

SpeedChange speed_change(std::span<const Report> reports, double instant_s) {
  const auto first =
      std::ranges::find_if(reports, [&](const Report& report) { return report.at_s >= instant_s; });
  const auto before = static_cast<std::size_t>(first - reports.begin());
  SpeedChange change;
  change.before = speed_of(reports.first(before));
  change.after = speed_of(reports.subspan(before));
  if (change.before && change.after)
    change.slowdown = change.after->steps_per_s / change.before->steps_per_s;
  return change;
}

std::optional<bool> hangs(std::span<const Report> reports, double now_s, double factor) {
  std::vector<double> gaps;
  each_gap(reports,
           [&](const Report& from, const Report& to) { gaps.push_back(to.at_s - from.at_s); });
  if (gaps.size() < enough_steady_gaps) return std::nullopt;
  std::ranges::sort(gaps);
  return now_s - reports.back().at_s > factor * quantile(gaps, 0.5);
}

}  // namespace schedmate
