// SPDX-License-Identifier: Apache-2.0
#include "tests/tidy/scan.hpp"

#include <algorithm>
#include <cctype>

#include "base/text.hpp"

namespace schedmate::tidy {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::size_t behind_group(std::string_view text, std::size_t open) {
  int depth = 0;
  for (auto at = open; at < text.size(); ++at) {
    if (std::string_view("([{").find(text[at]) != std::string_view::npos) ++depth;
    if (std::string_view(")]}").find(text[at]) != std::string_view::npos && --depth == 0) {
      return at + 1;
    }
  }
  return text.size();
}

std::string_view word_before(std::string_view text, std::size_t at) {
  while (at > 0 && text[at - 1] == ' ') --at;
  auto begin = at;
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  return text.substr(begin, at - begin);
}

bool begins_with_word(std::string_view text, std::string_view word) {
  return text.starts_with(word) && (text.size() == word.size() || !is_word(text[word.size()]));
}

std::string_view without_prefix(std::string_view head) {
  for (bool again = true; again;) {
    again = false;
    head = trim(head);
    for (const std::string_view label : {"public:", "private:", "protected:"}) {
      if (head.starts_with(label)) head = head.substr(label.size()), again = true;
    }
    if (head.starts_with("[[")) head = head.substr(behind_group(head, 0)), again = true;
    if (!begins_with_word(head, "template")) continue;
    int depth = 0;
    std::size_t at = head.find('<');
    for (; at < head.size(); ++at) {
      if (head[at] == '<') ++depth;
      if (head[at] == '>' && --depth == 0) break;
    }
    head = head.substr(std::min(at + 1, head.size()));
    again = true;
  }
  return head;
}

bool opens_scope(std::string_view head) {
  for (const std::string_view word : {"namespace", "class", "struct", "union", "extern"}) {
    if (begins_with_word(head, word) && head.find('(') == std::string_view::npos) return true;
  }
  return false;
}

bool in_member_initialiser(std::string_view head) {
  const auto close = head.find(')');
  if (close == std::string_view::npos || head.empty() || !is_word(head.back())) return false;
  const auto rest = trim(head.substr(close + 1));
  return rest.starts_with(':') && !rest.starts_with("::");
}

int line_at(std::string_view text, std::size_t at) {
  return 1 + static_cast<int>(std::ranges::count(text.substr(0, at), '\n'));
}

}  // namespace schedmate::tidy
