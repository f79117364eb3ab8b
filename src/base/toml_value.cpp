// SPDX-License-Identifier: Apache-2.0
#include "base/toml_value.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

namespace schedmate {
namespace {

constexpr int most_nesting = 200;

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
    value.whole = whole->get();
    value.number = static_cast<double>(value.whole);
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

std::optional<std::size_t> line_of_deep_key(std::string_view toml, int most) {
  std::size_t line = 1;
  int dots = 0;
  for (const char c : toml) {
    if (c == '\n') ++line;
    if (c == '.' && ++dots > most) return line;
    if (std::string_view("\n,=[]{}").contains(c)) dots = 0;
  }
  return std::nullopt;
}

Result<TomlValue> parse_toml(std::string_view toml, const std::string& file) {
  if (const auto line = line_of_deep_key(toml, most_nesting))
    return fail(ErrorCode::invalid,
                fmt::format("{}:{}:1: nested more than {} levels deep", file, *line, most_nesting));
  try {
    return convert(toml::parse(toml, file));
  } catch (const toml::parse_error& error) {
    return fail(ErrorCode::invalid, fmt::format("{}:{}:{}: {}", file, error.source().begin.line,
                                                error.source().begin.column, error.description()));
  }
}

std::optional<std::string> plain_text(const TomlValue& value) {
  switch (value.kind) {
    case TomlValue::Kind::text:
      return value.text;
    case TomlValue::Kind::whole:
      return fmt::to_string(value.whole);
    case TomlValue::Kind::real:
      return fmt::to_string(value.number);
    case TomlValue::Kind::flag:
      return value.flag ? "true" : "false";
    default:
      return std::nullopt;
  }
}

}  // namespace schedmate
