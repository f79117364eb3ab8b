// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace schedmate {

/// A Unicode code point as one to four bytes.
void append_utf8(std::string& out, std::uint32_t code);

/// Bytes of the character at `at`; 0 when there is none (overlong forms and surrogates too).
[[nodiscard]] std::size_t utf8_length(std::string_view text, std::size_t at);

/// With a question mark for each byte that is of no character.
[[nodiscard]] std::string with_valid_utf8(std::string_view text);

/// The code point of the `length` bytes at `at`, as utf8_length() gave them.
[[nodiscard]] std::uint32_t code_point(std::string_view text, std::size_t at, std::size_t length);

/// A character that must not reach a terminal or a reader of JSON as it is: controls (C0, DEL, C1),
/// line separators, marks that turn the direction of writing, marks that cannot be seen, and code
/// points that are no characters.
[[nodiscard]] bool is_unsafe(std::uint32_t code);

}  // namespace schedmate
