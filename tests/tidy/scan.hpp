// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Steps through blanked C++ (code.hpp), for what looks for functions and for variables. A `head`
/// is the text from the end of one statement to the bracket or semicolon that ends the next.

#include <string_view>

namespace schedmate::tidy {

[[nodiscard]] bool is_word(char c);
[[nodiscard]] bool begins_with_word(std::string_view text, std::string_view word);
[[nodiscard]] std::string_view word_before(std::string_view text, std::size_t at);

/// Position behind the bracket that closes the one at `open`.
[[nodiscard]] std::size_t behind_group(std::string_view text, std::size_t open);

/// The line, from 1, of a position.
[[nodiscard]] int line_at(std::string_view text, std::size_t at);

/// A head without `template <...>`, attributes and access labels in front.
[[nodiscard]] std::string_view without_prefix(std::string_view head);

/// Does `head` open a namespace or a class?
[[nodiscard]] bool opens_scope(std::string_view head);

/// Does `head` end within "Type(...) : member_", so that the next brace initialises a member?
[[nodiscard]] bool in_member_initialiser(std::string_view head);

}  // namespace schedmate::tidy
