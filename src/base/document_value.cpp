// SPDX-License-Identifier: Apache-2.0
#include "base/document_value.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace schedmate {

std::string text_in(const Document& value) {
  return value.is_string() ? value.get<std::string>() : "";
}

std::optional<std::int64_t> whole_in(const Document& value) {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > most) return std::nullopt;
  return value.get<std::int64_t>();
}

std::optional<double> figure_in(const Document& value) {
  if (!value.is_number()) return std::nullopt;
  const auto number = value.get<double>();
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

std::optional<SimTime> instant_in(const Document& value) {
  constexpr std::int64_t most_s = std::int64_t{1} << 40U;
  const auto seconds = whole_in(value);
  return seconds && *seconds >= -most_s && *seconds <= most_s ? std::optional(at(*seconds))
                                                              : std::nullopt;
}

}  // namespace schedmate
