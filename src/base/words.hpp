// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/time.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate {

/// "45 s", "12.5 min", "3.4 h", "2.1 d".
[[nodiscard]] std::string in_words(Seconds duration);

/// What may be printed on a terminal: a control character, a mark that turns the direction of
/// writing and a byte that is no UTF-8 become '?'.
[[nodiscard]] std::string printable(std::string_view text);

/// Columns padded to their widest cell and parted by two spaces; the last one is not padded.
[[nodiscard]] std::string aligned(std::span<const std::vector<std::string>> rows);

}  // namespace schedmate
