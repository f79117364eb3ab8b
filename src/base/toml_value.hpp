// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A TOML file as plain values that know where they stand.

#include <cstdint>
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
  double number = 0;  ///< of whole and real
  bool flag = false;
  std::vector<TomlValue> items;   ///< of a list or table
  std::vector<std::string> keys;  ///< of a table, one for each item
  std::vector<TomlPlace> key_places;
};

/// Errors: invalid, "FILE:LINE:COLUMN: what".
[[nodiscard]] Result<TomlValue> parse_toml(std::string_view toml, const std::string& file);

}  // namespace schedmate
