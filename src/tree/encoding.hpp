// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Bytes of a file as UTF-8 text.

#include <optional>
#include <string>
#include <string_view>

namespace schedmate::tree {

/// Byte order marks are removed, UTF-16 (with a mark, or plainly such by its zero bytes) is
/// converted, and a byte that is no UTF-8 is taken as Latin-1. Nothing for binary content.
[[nodiscard]] std::optional<std::string> as_utf8(std::string bytes);

/// The first line that is neither UTF-8 nor UTF-16, from 1; 0 when there is none.
[[nodiscard]] int line_not_utf8(std::string_view bytes);

[[nodiscard]] bool is_utf8(std::string_view text);

/// The text without what ends in the middle of a character, at most `bytes` long.
[[nodiscard]] std::string_view cut_utf8(std::string_view text, std::size_t bytes);

}  // namespace schedmate::tree
