// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Texts that fit a terminal: rows and tables cut to its width, shares as bars, colours.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "settings/environment.hpp"

namespace schedmate {

enum class Colour : std::uint8_t { none, bold, red, green, yellow };

/// The terminal's, else COLUMNS, else 80; 40 to 400.
[[nodiscard]] std::size_t screen_width(const settings::Environment& environment);

/// The text, made printable, in at most so many characters; what is cut off is "...". `keep_end`
/// cuts in front, as of a path.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width,
                                    bool keep_end = false);

/// "[||||      ] 41 %", of 20 marks; more than 100 % fills it.
[[nodiscard]] std::string share_bar(double share_pct);
/// "41 %", "---" when nobody knows.
[[nodiscard]] std::string share_words(std::optional<double> share_pct);

/// Where a high share is good (CPU, GPU): red below 20, green above 80. Where the middle is (time,
/// memory): red below 20 and above 90, green from 60 on.
[[nodiscard]] Colour colour_of_high(std::optional<double> share_pct);
[[nodiscard]] Colour colour_of_middle(std::optional<double> share_pct);
/// Of a state: green completed, yellow cancelled, red what failed.
[[nodiscard]] Colour colour_of_state(std::string_view state);

/// Marked for the console (base/words.hpp).
[[nodiscard]] std::string coloured(std::string_view text, Colour colour);

struct Cell {
  std::string text;
  Colour colour = Colour::none;
};
/// One column of a table. Columns of higher `rank` are left out first where the width is short.
struct TableColumn {
  std::string name;
  int rank = 0;
  bool to_the_right = false;
  std::vector<Cell> cells;
};
/// With a bold line of names; the last column takes what is left of the width.
[[nodiscard]] std::string table_text(std::vector<TableColumn> columns, std::size_t width);

}  // namespace schedmate
