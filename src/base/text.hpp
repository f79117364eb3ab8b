// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Small text operations that several modules need.

#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate {

/// Parts between separators; "" gives one empty part.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// Lines with their ends; the last one may have none.
[[nodiscard]] std::vector<std::string_view> whole_lines(std::string_view text);

/// Without spaces, tabs and line ends at both sides.
[[nodiscard]] std::string_view trim(std::string_view text);

/// The whole text as a number, or nothing.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Edits (insert, delete, replace, swap two neighbours) that turn `a` into `b`.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name closest to `wanted`; "" when there is none at all.
[[nodiscard]] std::string_view nearest(std::string_view wanted,
                                       std::span<const std::string_view> names);

/// As one word for a shell: in single quotes.
[[nodiscard]] std::string shell_quoted(std::string_view word);

/// ASCII letters as small ones; other bytes stay.
[[nodiscard]] std::string lower_case(std::string_view text);
/// "unknown KIND 'WANTED' (nearest: X; all: A, B, C)".
[[nodiscard]] std::string unknown_name(std::string_view kind, std::string_view wanted,
                                       std::span<const std::string_view> names);

}  // namespace schedmate
