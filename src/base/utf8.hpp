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

}  // namespace schedmate
