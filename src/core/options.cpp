// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <schedmate/scheduler.hpp>
#include <utility>

#include "base/text.hpp"

namespace schedmate {

PolicyOptions::PolicyOptions(std::map<std::string, std::string, std::less<>> values)
    : values_(std::move(values)) {}

void PolicyOptions::add_defaults(std::string_view list) {
  for (const std::string_view item : split(list, ',')) {
    const std::size_t equals = item.find('=');
    if (equals != std::string_view::npos)
      values_.emplace(item.substr(0, equals), item.substr(equals + 1));
  }
}

std::string PolicyOptions::take_text(std::string_view key, std::string_view fallback) {
  known_.emplace_back(key);
  const auto found = values_.find(key);
  return std::string(found == values_.end() ? fallback : std::string_view(found->second));
}

namespace {
template <class Number>
Result<Number> number_or(std::string_view key, const std::string& text, Number fallback) {
  if (text.empty()) return fallback;
  if (const auto value = parse_number<Number>(text)) return *value;
  return fail(ErrorCode::unsupported, fmt::format("{}={}: must be a number", key, text));
}
}  // namespace

Result<std::int64_t> PolicyOptions::take_integer(std::string_view key, std::int64_t fallback) {
  return number_or(key, take_text(key, ""), fallback);
}

Result<double> PolicyOptions::take_number(std::string_view key, double fallback) {
  return number_or(key, take_text(key, ""), fallback);
}

Result<bool> PolicyOptions::take_flag(std::string_view key, bool fallback) {
  const std::string text = take_text(key, fallback ? "true" : "false");
  if (text == "true" || text == "1" || text == "on") return true;
  if (text == "false" || text == "0" || text == "off") return false;
  return fail(ErrorCode::unsupported, fmt::format("{}={}: must be true or false", key, text));
}

Result<void> PolicyOptions::check_all_taken(std::string_view policy) const {
  for (const auto& [key, value] : values_) {
    if (std::ranges::find(known_, key) != known_.end()) continue;
    const std::vector<std::string_view> names(known_.begin(), known_.end());
    return fail(ErrorCode::not_found,
                unknown_name(fmt::format("setting of policy/{}", policy), key, names));
  }
  return {};
}

}  // namespace schedmate
