// SPDX-License-Identifier: Apache-2.0
#include "screen/fields.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/document_value.hpp"
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
  const auto found = whole_in(part(document, key));
  return found && *found <= most && *found >= -most ? found : std::nullopt;
}

std::optional<double> amount(const Document& document, const char* key) {
  return figure_in(part(document, key));
}

std::vector<std::string> texts(const Document& document, const char* key) {
  std::vector<std::string> all;
  const Document& list = part(document, key);
  if (!list.is_array()) return all;
  for (const Document& each : list) all.push_back(shown_value(each));
  return all;
}

}  // namespace schedmate::screen
