// SPDX-License-Identifier: Apache-2.0
#include "log/progress/columns_of_numbers.hpp"

#include <algorithm>
#include <cmath>

namespace schedmate::progress {

Rise rise_of(std::span<const double> values) {
  Rise rise;
  std::vector<double> ups;
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double by = values[i] - values[i - 1];
    if (by > 0) {
      ups.push_back(by);
      rise.largest = std::max(rise.largest, by);
    } else if (by == 0) {
      ++rise.same;
    } else if (values[i] <= values[i - 1] / 2) {
      ++rise.restarts;
    } else {
      ++rise.falls;  // nan too
    }
  }
  rise.up = ups.size();
  if (!ups.empty()) rise.usual = median_of(std::move(ups));
  return rise;
}

bool is_count(std::span<const double> values) {
  return std::ranges::all_of(
      values, [](double each) { return each >= 0 && each < 1e15 && each == std::floor(each); });
}

bool is_even(std::span<const double> values) {
  constexpr double alike = 1.5;
  double before = 0;
  bool changes = false;
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double by = values[i] - values[i - 1];
    if (changes && by * before <= 0) return false;
    if (changes &&
        (std::abs(by) > alike * std::abs(before) || std::abs(before) > alike * std::abs(by)))
      return false;
    changes = changes || by != 0;
    before = by;
  }
  return true;
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const auto middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace schedmate::progress
