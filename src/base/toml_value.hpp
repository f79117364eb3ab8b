// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A TOML file as plain values that know where they stand.

#include <cstdint>
#include <optional>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate {

/// 1-based.
struct TomlPlace {
  std::size_t line = 1, column = 1;
};

struct TomlValue {
  enum class Kind : std::uint8_t { text, whole, real, flag, list, table, other };
  Kind kind = Kind::other;
  TomlPlace place;
  std::string text;
  double number = 0;       ///< of whole and real
  std::int64_t whole = 0;  ///< of whole
  bool flag = false;
  std::vector<TomlValue> items;   ///< of a list or table
  std::vector<std::string> keys;  ///< of a table, one for each item
  std::vector<TomlPlace> key_places;
};

/// Keys such as a.a.a.a nest as deep as brackets, and nothing bounds them in toml++: the first line
/// with more than `most` dots in a key.
[[nodiscard]] std::optional<std::size_t> line_of_deep_key(std::string_view toml, int most);

/// Errors: invalid, "FILE:LINE:COLUMN: what".
[[nodiscard]] Result<TomlValue> parse_toml(std::string_view toml, const std::string& file);

/// A text as it is, a number or flag as a person writes it; nothing for lists, tables and dates.
[[nodiscard]] std::optional<std::string> plain_text(const TomlValue& value);

}  // namespace schedmate
