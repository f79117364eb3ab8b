// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Tables of text. Cells are printable (words.hpp) already; their widths count characters, not
/// bytes, and styles take no room. No row ends in blanks. Pure functions, for any thread.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/words.hpp"

namespace schedmate {

/// The text in at most so many characters; what is cut off is "...". `keep_end` cuts in front, as
/// of a path.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width,
                                    bool keep_end = false);

struct Cell {
  std::string text;
  Style style = Style::plain;
  Cell(std::string shown, Style how = Style::plain) : text(std::move(shown)), style(how) {}
  Cell(const char* shown) : text(shown) {}
};

/// Where nobody knows a value.
inline constexpr const char* unknown_cell = "---";

/// What becomes of a text that is too long for the last column.
enum class TooLong : std::uint8_t { cut, cut_in_front, folded };

struct TableColumn {
  std::string name;
  /// Where the width is short, the columns in which nothing is known are left out first, then those
  /// of the highest rank; those of rank 0 never.
  int rank = 0;
  bool to_the_right = false;
  /// As the last column it is content with so much room; others are left out to give it that.
  std::size_t least = std::numeric_limits<std::size_t>::max();
  TooLong too_long = TooLong::cut;
};

/// With a bold line of names. A terminal of `width` columns gets what fits: columns are left out,
/// then the last one is cut or folded. `width` = 0: no terminal, and everything is there. Each row
/// has a cell for every column.
[[nodiscard]] std::string table_text(std::span<const TableColumn> columns,
                                     std::span<const std::vector<Cell>> rows, std::size_t width);

/// Columns without names, padded to their widest cell and parted by two spaces. Rows may differ in
/// length; what is too long for a terminal is left to it (fold.hpp).
[[nodiscard]] std::string aligned(std::span<const std::vector<std::string>> rows);

}  // namespace schedmate
