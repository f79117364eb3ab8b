// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What names say of values, and what values say of themselves.

#include <span>
#include <string_view>

namespace schedmate::secrets {

/// How much a name alone says: the value of a `login` or a `secret` is one whatever it looks like,
/// that of a `token` when it looks like a key. What is plainly no value is none in each case.
enum class SecretKind : unsigned char { none, token, login, secret };

/// Is it one of these, which are in lower case?
[[nodiscard]] bool is_listed(std::span<const std::string_view> words, std::string_view word);
[[nodiscard]] SecretKind kind_of_name(std::string_view name);
/// Of two words that stand beside each other: "API key". The second is "key", "token" or "id".
[[nodiscard]] bool is_second_word(std::string_view word);
[[nodiscard]] SecretKind kind_of_words(std::string_view first, std::string_view second);

/// Stands for something else: ${X}, {x}, <x>, %(x)s, [redacted], ***, ... `quoted`: a string of a
/// program, in which fewer letters have a meaning.
[[nodiscard]] bool is_placeholder(std::string_view value, bool quoted);
/// none, true, str, required, ...
[[nodiscard]] bool is_common_word(std::string_view value);
/// A word of a sentence that may follow a flag: "the --token option is".
[[nodiscard]] bool is_prose_word(std::string_view value);
/// HF_TOKEN: a variable's name, not its value.
[[nodiscard]] bool is_variable_name(std::string_view value);
/// A label or a sentence of several words: "Enter your password".
[[nodiscard]] bool is_label(std::string_view value);
/// [A-Za-z_][A-Za-z0-9_]*
[[nodiscard]] bool is_identifier(std::string_view value);
/// `os.environ["X"]`, `args.token`, `get(...)`: something that stands for the value.
[[nodiscard]] bool is_expression(std::string_view value);
/// 12, 0.5, 1.5e-3, 0x1f
[[nodiscard]] bool is_number(std::string_view value);
/// "^4.0.0"
[[nodiscard]] bool is_version(std::string_view value);
/// The begin of a line says that all of it is a comment: "  # x", "// x".
[[nodiscard]] bool is_comment(std::string_view line);
/// At least so many letters, among them a digit.
[[nodiscard]] bool looks_like_key(std::string_view value, std::size_t least);
/// A file, not a key: "~/.ssh/id", "/run/secrets/x".
[[nodiscard]] bool is_path(std::string_view value);

}  // namespace schedmate::secrets
