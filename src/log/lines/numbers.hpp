// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The numbers of a line with the words that belong to them: what stands before ("loss: 0.5"),
/// behind ("0.5 s/it"), a total ("100/ 2000"), a mean in parentheses ("0.5 (0.6)").

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::lines {

struct Number {
  double value = 0;  ///< K, M, B of "9K" and "1.31kit" are multiplied in
  bool whole = false;
  bool clock = false;  ///< "1:02:03", "6h 48m 03s", "1 day, 2:03:04": value in seconds
  bool in_brackets = false;
  bool percent = false;
  std::string key;              ///< lower case, "" = none
  std::string unit;             ///< as printed, "" = none
  std::optional<double> total;  ///< of "value/total", "value of total"
  std::string total_unit;       ///< "iters" of "3.2s/100 iters"
  std::optional<double> mean;   ///< of "value (mean)"
  double range = 0;             ///< how many numbers "101-200" covers; value is the last
  std::size_t at = 0;           ///< where it begins
};

/// At most `most_numbers` of them, from the left.
inline constexpr std::size_t most_numbers = 128;
[[nodiscard]] std::vector<Number> numbers_of(std::string_view text);

}  // namespace schedmate::lines
