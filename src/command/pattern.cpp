// SPDX-License-Identifier: Apache-2.0
#include "command/pattern.hpp"

namespace schedmate::command {
namespace {

constexpr auto nowhere = std::string_view::npos;

/// End of the set that opens at `at`, or nowhere when it does not close.
std::size_t set_end(std::string_view pattern, std::size_t at) {
  std::size_t end = at + 1;
  if (end < pattern.size() && (pattern[end] == '!' || pattern[end] == '^')) ++end;
  if (end < pattern.size() && pattern[end] == ']') ++end;
  end = pattern.find(']', end);
  return end;
}

bool in_set(std::string_view set, char c) {
  const bool inverted = set.starts_with('!') || set.starts_with('^');
  if (inverted) set.remove_prefix(1);
  bool found = false;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (i + 2 < set.size() && set[i + 1] == '-') {
      found = found || (set[i] <= c && c <= set[i + 2]);
      i += 2;
    } else {
      found = found || set[i] == c;
    }
  }
  return found != inverted;
}

/// Fits one character of the pattern at `at`; moves `at` behind it. '*' is not for this one.
bool fits_one(std::string_view pattern, std::size_t& at, char c) {
  const char mark = pattern[at];
  if (mark == '[') {
    const std::size_t end = set_end(pattern, at);
    if (end != nowhere) {
      const auto set = pattern.substr(at + 1, end - at - 1);
      at = end + 1;
      return in_set(set, c);
    }
  }
  if (mark == '\\' && at + 1 < pattern.size()) ++at;
  const char wanted = pattern[at++];
  return (mark == '?') || wanted == c;
}

}  // namespace

bool matches(std::string_view pattern, std::string_view text) {
  std::size_t in_pattern = 0;
  std::size_t in_text = 0;
  std::size_t star = nowhere;
  std::size_t star_text = 0;
  while (in_text < text.size()) {
    std::size_t next = in_pattern;
    if (in_pattern < pattern.size() && pattern[in_pattern] == '*') {
      star = in_pattern++;
      star_text = in_text;
    } else if (in_pattern < pattern.size() && fits_one(pattern, next, text[in_text])) {
      in_pattern = next;
      ++in_text;
    } else if (star != nowhere) {
      in_pattern = star + 1;
      in_text = ++star_text;
    } else {
      return false;
    }
  }
  while (in_pattern < pattern.size() && pattern[in_pattern] == '*') ++in_pattern;
  return in_pattern == pattern.size();
}

bool has_pattern_marks(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '*' || text[i] == '?' ||
               (text[i] == '[' && set_end(text, i) != nowhere)) {
      return true;
    }
  }
  return false;
}

std::string escaped_pattern(std::string_view text) {
  std::string made;
  for (const char c : text) {
    if (std::string_view("*?[]\\").contains(c)) made += '\\';
    made += c;
  }
  return made;
}

}  // namespace schedmate::command
