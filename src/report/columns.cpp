// SPDX-License-Identifier: Apache-2.0
#include "report/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace schedmate::report {
namespace {

using enum Quantity;
using enum BetterDirection;

constexpr std::array columns = {
    TableColumn{"average JCT", seconds, lower, [](const RunSummary& r) { return r.jct_s.average; }},
    TableColumn{"median JCT", seconds, lower, [](const RunSummary& r) { return r.jct_s.p50; }},
    TableColumn{"p99 JCT", seconds, lower, [](const RunSummary& r) { return r.jct_s.p99; }},
    TableColumn{"average queueing", seconds, lower,
                [](const RunSummary& r) { return r.queue_s.average; }},
    TableColumn{"p99 queueing", seconds, lower, [](const RunSummary& r) { return r.queue_s.p99; }},
    TableColumn{"average slowdown", ratio, lower,
                [](const RunSummary& r) { return r.slowdown.average; }},
    TableColumn{"makespan", seconds, lower,
                [](const RunSummary& r) { return static_cast<double>(r.makespan.count()); }},
    TableColumn{"utilisation", percent, higher, [](const RunSummary& r) { return r.utilisation; }},
    TableColumn{"Jain index", ratio, higher, [](const RunSummary& r) { return r.jain_index; }},
    TableColumn{"p99 fairness", ratio, lower,
                [](const RunSummary& r) { return r.finish_fairness.p99; }},
    TableColumn{"preemptions", count, neither,
                [](const RunSummary& r) { return static_cast<double>(r.preemptions); }},
};

double largest(std::span<const double> values) {
  double top = 0;
  for (const double value : values) top = value > top ? value : top;  // passes over NaN
  return top;
}

int digits_for(double top) { return top < 10 ? 2 : top < 100 ? 1 : 0; }

// Thousands separators in what fmt printed.
std::string grouped(std::string digits) {
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::size_t first = digits.front() == '-' ? 1 : 0;
  for (std::size_t at = point; at > first + 3;) digits.insert(at -= 3, ",");
  return digits;
}

}  // namespace

std::span<const TableColumn> result_columns() { return columns; }

Scale scale_of(Quantity quantity, std::span<const double> values) {
  const double top = largest(values);
  switch (quantity) {
    case percent:
      return {0.01, "%", 1};
    case ratio:
      return {1, "", top < 10 ? 2 : 1};
    case count:
      return {1, "", 0};
    case seconds:
      break;
  }
  if (top < 120) return {1, "s", digits_for(top)};
  if (top < 120 * 60) return {60, "min", digits_for(top / 60)};
  if (top < 96 * 3600) return {3600, "h", digits_for(top / 3600)};
  return {86400, "d", digits_for(top / 86400)};
}

std::string number(double value, const Scale& scale) {
  if (std::isnan(value)) return "–";
  return grouped(fmt::format("{:.{}f}", value / scale.divisor, scale.digits));
}

std::vector<bool> best_of(std::span<const double> values, BetterDirection better) {
  std::vector<bool> best(values.size(), false);
  std::vector<double> known;
  std::ranges::copy_if(values, std::back_inserter(known), [](double v) { return !std::isnan(v); });
  if (known.empty() || better == neither) return best;
  const auto [low, high] = std::ranges::minmax(known);
  if (low == high) return best;
  const double wanted = better == lower ? low : high;
  for (std::size_t i = 0; i < values.size(); ++i) best[i] = values[i] == wanted;
  return best;
}

}  // namespace schedmate::report
