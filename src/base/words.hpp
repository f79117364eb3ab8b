// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <schedmate/time.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate {

/// "45 s", "12.5 min", "3.4 h", "2.1 d".
[[nodiscard]] std::string in_words(Seconds duration);

/// What of a name or another foreign text may be printed on a terminal, on one line: a control
/// character, a mark that cannot be seen or turns the direction of writing, and a byte that is no
/// UTF-8 become '?'.
[[nodiscard]] std::string printable(std::string_view text);

/// How a part of a text stands out on a terminal.
enum class Style : std::uint8_t { bold, dim, red, green, yellow };
/// The text between two marks that only for_terminal() reads. They take no room in aligned().
[[nodiscard]] std::string styled(Style style, std::string_view text);

/// A whole text as a terminal may get it: as printable(), but line ends and tabs stay, and marks of
/// styled() become its colours (`colours`) or vanish.
[[nodiscard]] std::string for_terminal(std::string_view text, bool colours);

/// Columns padded to their widest cell and parted by two spaces; the last one is not padded.
[[nodiscard]] std::string aligned(std::span<const std::vector<std::string>> rows);

}  // namespace schedmate
