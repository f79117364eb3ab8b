// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace schedmate {

/// The columns that a line takes on a terminal: one a character, none a colour (ESC [ ... m).
[[nodiscard]] std::size_t columns_of(std::string_view line);

/// The text with no line wider than `columns` characters: a longer one goes on in the next line,
/// broken at a blank where there is one, else behind a comma. It goes on below the last column of a
/// table (a part after two spaces) or below its own indentation, so that a table stays one. Nothing
/// is left out but the blanks at a break. `columns` = 0 folds nothing.
[[nodiscard]] std::string folded(std::string_view text, std::size_t columns);

}  // namespace schedmate
