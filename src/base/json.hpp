// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What every writer of JSON needs.

#include <array>
#include <charconv>
#include <optional>
#include <system_error>

namespace schedmate {

/// null for a value that is not there.
template <class Json, class Value>
[[nodiscard]] Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// An estimate without digits that nobody knows: the nearest number of `digits` decimal digits.
[[nodiscard]] inline double as_known(double value, int digits = 6) {
  std::array<char, 64> text{};
  char* const end = text.data() + text.size();
  const auto written = std::to_chars(text.data(), end, value, std::chars_format::general, digits);
  double rounded = value;
  if (written.ec == std::errc()) std::from_chars(text.data(), written.ptr, rounded);
  return rounded;
}

template <class Json>
[[nodiscard]] Json as_known_or_null(const std::optional<double>& value, int digits = 6) {
  return value ? Json(as_known(*value, digits)) : Json(nullptr);
}

/// Each fraction in a document as as_known() gives it; whole numbers stay.
template <class Json>
void round_fractions(Json& document, int digits) {
  if (document.is_structured()) {
    for (Json& part : document) round_fractions(part, digits);
  } else if (document.is_number_float()) {
    document = as_known(document.template get<double>(), digits);
  }
}

}  // namespace schedmate
