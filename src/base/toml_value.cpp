// SPDX-License-Identifier: Apache-2.0
#include "base/toml_value.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

namespace schedmate {
namespace {

TomlPlace place_of(const toml::source_region& source) {
  return {source.begin.line, source.begin.column};
}

TomlValue convert(const toml::node& node) {
  TomlValue value;
  value.place = place_of(node.source());
  if (const auto* text = node.as_string()) {
    value.kind = TomlValue::Kind::text;
    value.text = text->get();
  } else if (const auto* whole = node.as_integer()) {
    value.kind = TomlValue::Kind::whole;
    value.number = static_cast<double>(whole->get());
  } else if (const auto* real = node.as_floating_point()) {
    value.kind = TomlValue::Kind::real;
    value.number = real->get();
  } else if (const auto* flag = node.as_boolean()) {
    value.kind = TomlValue::Kind::flag;
    value.flag = flag->get();
  } else if (const auto* list = node.as_array()) {
    value.kind = TomlValue::Kind::list;
    for (const toml::node& each : *list) value.items.push_back(convert(each));
  } else if (const auto* table = node.as_table()) {
    value.kind = TomlValue::Kind::table;
    for (const auto& [key, each] : *table) {
      value.keys.emplace_back(key.str());
      value.key_places.push_back(place_of(key.source()));
      value.items.push_back(convert(each));
    }
  }
  return value;
}

}  // namespace

Result<TomlValue> parse_toml(std::string_view toml, const std::string& file) {
  try {
    return convert(toml::parse(toml, file));
  } catch (const toml::parse_error& error) {
    return fail(ErrorCode::invalid, fmt::format("{}:{}:{}: {}", file, error.source().begin.line,
                                                error.source().begin.column, error.description()));
  }
}

}  // namespace schedmate
