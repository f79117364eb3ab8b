// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reads values out of a text of any kind: code, shell, YAML, a log. Each call looks at a bounded
/// piece of it.

#include <optional>

#include "secrets/spans.hpp"

namespace schedmate::secrets {

constexpr std::size_t most_value = 128;  ///< letters of a value that decide whether it is a secret
constexpr std::size_t most_line = 300;   ///< looked at before a name
constexpr std::size_t most_call = 400;   ///< looked at for the end of a call

struct Value {
  Span span;
  bool quoted = false;
  bool after_scheme = false;  ///< "Bearer VALUE"
  char prefix = '\0';         ///< f"", b"", r""
};

class SecretText {
 public:
  explicit SecretText(std::string_view text) : text_(text) {}

  [[nodiscard]] std::size_t after_escape(std::size_t at) const;
  [[nodiscard]] std::size_t after_blanks(std::size_t at) const;
  /// Where the value begins: at `at`, or on the next line where this one ends there. A marker of
  /// YAML ("|", ">-"), an opening '(' or a '\' may stand before the end.
  [[nodiscard]] std::size_t value_begin(std::size_t at) const;
  [[nodiscard]] Value value_at(std::size_t start) const;
  /// Where a value without quotes ends that may hold ",;&)" as people's passwords do: at a blank,
  /// at a quote, or at one of these where another name or nothing follows.
  [[nodiscard]] std::size_t bare_end(std::size_t end) const;
  /// Whether a value goes on at `at`; `quote` is '\0' without quotes.
  [[nodiscard]] bool goes_on(std::size_t at, char quote) const;
  /// Whether the quote here begins a string: 'Password: ' is a prompt, the quote at its end closes
  /// what the one before it opened.
  [[nodiscard]] bool opens_string(std::size_t at) const;
  /// Behind the ')' that closes a call.
  [[nodiscard]] std::size_t call_end(std::size_t open) const;
  [[nodiscard]] std::size_t indent_at(std::size_t begin) const;
  /// `config set NAME VALUE`, `setenv NAME VALUE`, `ENV NAME VALUE`.
  [[nodiscard]] bool follows_set(std::size_t begin) const;
  /// A program: one of its lines begins as those of programs do. Looked up once.
  bool is_code();
  /// Of a program, and `before`, the begin of a line, is none of a log: no time, no level.
  bool is_code(std::string_view before) { return is_code() && !is_log(before); }

 private:
  [[nodiscard]] static bool is_log(std::string_view before);
  [[nodiscard]] std::size_t after_scheme(std::size_t at) const;

  std::string_view text_;
  std::optional<bool> is_code_;
};

}  // namespace schedmate::secrets
