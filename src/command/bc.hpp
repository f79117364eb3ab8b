// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the program `bc` prints for one expression: decimal numbers with a scale of their own.

#include <optional>
#include <string>
#include <string_view>

namespace schedmate::command {

/// "10 / 4" gives "2", "scale=2; 10 / 4" gives "2.50"; nothing for all but + - * / % ^ and
/// brackets.
[[nodiscard]] std::optional<std::string> calculate_decimal(std::string_view text, int scale);

}  // namespace schedmate::command
