// SPDX-License-Identifier: Apache-2.0
#include "base/whole_number.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace schedmate {

std::optional<std::int64_t> whole_number(const Document& value) {
  if (value.is_number_float()) {
    constexpr double most = 9'007'199'254'740'991;  // beyond it not every whole number is a double
    const auto number = value.get<double>();
    if (std::abs(number) > most || number != std::trunc(number)) return std::nullopt;
    return static_cast<std::int64_t>(number);
  }
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() && !std::in_range<std::int64_t>(value.get<std::uint64_t>())))
    return std::nullopt;
  return value.get<std::int64_t>();
}

}  // namespace schedmate
