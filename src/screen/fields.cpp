// SPDX-License-Identifier: Apache-2.0
#include "screen/fields.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/words.hpp"

namespace schedmate::screen {
namespace {

std::string shown_value(const Document& value) {
  if (value.is_string()) return printable(value.get<std::string>());
  if (value.is_number_integer()) return in_one_line(value);
  if (value.is_number()) return fmt::format("{:.6g}", value.get<double>());
  return "";
}

}  // namespace

std::string word(const Document& document, const char* key) {
  return shown_value(part(document, key));
}

std::optional<std::int64_t> whole(const Document& document, const char* key) {
  constexpr std::int64_t most = 1'000'000'000'000'000;
  const Document& value = part(document, key);
  if (!value.is_number_integer()) return std::nullopt;
  const auto found = value.get<std::int64_t>();
  if (found > most || found < -most) return std::nullopt;
  return found;
}

std::optional<double> amount(const Document& document, const char* key) {
  const Document& value = part(document, key);
  if (!value.is_number() || !std::isfinite(value.get<double>())) return std::nullopt;
  return value.get<double>();
}

std::vector<std::string> texts(const Document& document, const char* key) {
  std::vector<std::string> all;
  const Document& list = part(document, key);
  if (!list.is_array()) return all;
  for (const Document& each : list) all.push_back(shown_value(each));
  return all;
}

}  // namespace schedmate::screen
