// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where the secrets of a text stand. Each finder goes over the text once.

#include <string_view>
#include <vector>

#include "base/characters.hpp"

namespace schedmate::tree {

struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};
using Spans = std::vector<Span>;

void find_key_forms(std::string_view text, Spans& found);     ///< by the key's own form
void find_private_keys(std::string_view text, Spans& found);  ///< -----BEGIN ... PRIVATE KEY-----
void find_url_passwords(std::string_view text, Spans& found);
void find_assigned_secrets(std::string_view text, Spans& found);  ///< by the name they are given
void find_wandb_keys(std::string_view text, Spans& found);        ///< 40 hex digits, by context

constexpr bool is_word(char c) { return is_digit(c) || is_letter(c) || c == '_'; }

/// No word goes on before `at`; the letter of an escape such as "\n" does not count as one.
constexpr bool starts_word(std::string_view text, std::size_t at) {
  if (at == 0 || !is_word(text[at - 1])) return true;
  const char before = text[at - 1];
  return at >= 2 && text[at - 2] == '\\' && (before == 'n' || before == 'r' || before == 't');
}

}  // namespace schedmate::tree
