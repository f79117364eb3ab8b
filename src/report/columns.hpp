// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The columns of the report's tables: what is shown, in which unit, and which value is best.

#include <cstdint>
#include <schedmate/report.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::report {

enum class Quantity : std::uint8_t { seconds, percent, ratio, count };
enum class BetterDirection : std::uint8_t { lower, higher, neither };

struct TableColumn {
  std::string_view title;
  Quantity quantity = Quantity::count;
  BetterDirection better = BetterDirection::lower;
  double (*value)(const RunSummary&) = nullptr;
};
[[nodiscard]] std::span<const TableColumn> result_columns();

/// One unit and precision for a whole column, chosen by its largest value, so that its numbers can
/// be compared by eye.
struct Scale {
  double divisor = 1;
  std::string_view unit;  ///< "s", "min", "h", "d", "%" or ""
  int digits = 0;         ///< after the point
};
[[nodiscard]] Scale scale_of(Quantity quantity, std::span<const double> values);

/// "11.1", "2,199,775"; a dash for NaN.
[[nodiscard]] std::string number(double value, const Scale& scale);

/// Positions of the best values; none when all are equal or nothing is better.
[[nodiscard]] std::vector<bool> best_of(std::span<const double> values, BetterDirection better);

}  // namespace schedmate::report
