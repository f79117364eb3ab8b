// SPDX-License-Identifier: Apache-2.0
#include "log/progress/line_parts.hpp"

#include <algorithm>

namespace schedmate::progress {

LineParts::LineParts(std::string_view text, const LogWords& known)
    : body(text), words(known), numbers(lines::numbers_of(text)) {
  keys.reserve(numbers.size());
  for (const lines::Number& number : numbers) keys.push_back(plain_key(number.key));
}

std::optional<std::size_t> LineParts::index_of(std::string_view key) const {
  const auto at = std::ranges::find(keys, key);
  if (key.empty() || at == keys.end()) return std::nullopt;
  return static_cast<std::size_t>(at - keys.begin());
}

bool LineParts::is_held_out(std::size_t i) const {
  return words.held_out.contains(keys[i].substr(0, keys[i].find(' ')));
}

bool has_word(std::string_view phrase, const WordSet& set) {
  while (!phrase.empty()) {
    const auto end = std::min(phrase.find(' '), phrase.size());
    if (set.contains(phrase.substr(0, end))) return true;
    phrase.remove_prefix(std::min(end + 1, phrase.size()));
  }
  return false;
}

std::string_view last_word(std::string_view phrase) {
  const auto space = phrase.rfind(' ');
  return space == std::string_view::npos ? phrase : phrase.substr(space + 1);
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : plain_key(text)) {
    const bool letter = (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80;
    if (letter)
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  }
  return words;
}

}  // namespace schedmate::progress
