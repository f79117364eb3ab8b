// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where the secrets of a text stand. Each finder goes over the text once and looks at a bounded
/// piece around each place.

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/characters.hpp"

namespace schedmate::secrets {

struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};
using Spans = std::vector<Span>;

void find_shapes(std::string_view text, Spans& found);         ///< by the key's own form
void find_private_keys(std::string_view text, Spans& found);   ///< -----BEGIN ... PRIVATE KEY-----
void find_url_passwords(std::string_view text, Spans& found);  ///< ://user:password@host
void find_pgpass(std::string_view text, Spans& found);         ///< host:port:database:user:password
void find_wandb_keys(std::string_view text, Spans& found);     ///< 40 hex digits, by context
void find_kubernetes_secrets(std::string_view text, Spans& found);  ///< values of kind: Secret
void find_named_secrets(std::string_view text, Spans& found);       ///< by the name they are given
void find_command_secrets(std::string_view text, Spans& found);     ///< `mysql -p`, `curl -u`, ...

constexpr std::size_t nowhere = std::string_view::npos;

constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_word(char c) { return is_digit(c) || is_letter(c) || c == '_'; }
constexpr bool is_quote(char c) { return c == '"' || c == '\'' || c == '`'; }
constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }
constexpr bool is_among(char c, std::string_view letters) { return letters.find(c) != nowhere; }
constexpr char at_or_nul(std::string_view text, std::size_t at) {
  return at < text.size() ? text[at] : '\0';
}

/// Two letters as a number, for tables of what may begin at a place.
constexpr std::size_t pair_of(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]) * 256U + static_cast<unsigned char>(text[at + 1]);
}

/// As find(), several times as fast.
inline std::size_t find_text(std::string_view text, std::string_view what, std::size_t from) {
  if (from >= text.size()) return nowhere;
  const void* at = ::memmem(text.data() + from, text.size() - from, what.data(), what.size());
  return at == nullptr ? nowhere
                       : static_cast<std::size_t>(static_cast<const char*>(at) - text.data());
}

/// No word goes on before `at`; the letter of an escape such as "\n" does not count as one.
constexpr bool starts_word(std::string_view text, std::size_t at) {
  if (at == 0 || !is_word(text[at - 1])) return true;
  const char before = text[at - 1];
  return at >= 2 && text[at - 2] == '\\' && (before == 'n' || before == 'r' || before == 't');
}

constexpr bool equal_words(std::string_view word, std::string_view lower_case) {
  return std::ranges::equal(word, lower_case, [](char a, char b) { return lower(a) == b; });
}

/// Where the line of `at` begins, looked for among the last `most` characters only.
constexpr std::size_t line_begin(std::string_view text, std::size_t at, std::size_t most) {
  const std::size_t floor = at > most ? at - most : 0;
  while (at > floor && text[at - 1] != '\n') --at;
  return at;
}

}  // namespace schedmate::secrets
