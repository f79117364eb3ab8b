// SPDX-License-Identifier: Apache-2.0
#include "log/lines/conditions.hpp"

#include <fmt/format.h>

namespace schedmate::lines {

Result<std::vector<std::uint32_t>> read_phrases(const RuleRow& row, std::string_view key,
                                                Phrases& phrases) {
  std::vector<std::uint32_t> numbers;
  for (const std::string& each : row.list(key)) {
    const auto number = phrases.add(each);
    if (number == 0)
      return row.refuse(
          fmt::format("the phrase '{}' has fewer than {} characters", each, Phrases::least));
    numbers.push_back(number);
  }
  return numbers;
}

Result<Condition> read_condition(const RuleRow& row, Phrases& phrases) {
  Condition made;
  for (const auto& [key, list] :
       {std::pair{"any", &made.any}, std::pair{"all", &made.all}, std::pair{"none", &made.none}}) {
    auto read = read_phrases(row, key, phrases);
    if (!read) return tl::unexpected(read.error());
    *list = *std::move(read);
  }
  return made;
}

}  // namespace schedmate::lines
