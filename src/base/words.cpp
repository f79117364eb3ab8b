// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/fold.hpp"
#include "base/utf8.hpp"

namespace schedmate {
namespace {

/// Controls (C0, DEL, C1), and marks that end a line or turn the direction of writing.
bool commands_a_terminal(std::string_view character) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(character[at]); };
  if (character.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7F;
  if (character.size() == 2) return byte(0) == 0xC2 && byte(1) < 0xA0;
  if (character.size() != 3 || byte(0) != 0xE2) return false;
  return (byte(1) == 0x80 && byte(2) >= 0xA8 && byte(2) <= 0xAE) ||  // U+2028 to U+202E
         (byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9);    // U+2066 to U+2069
}

}  // namespace

std::string in_words(Seconds duration) {
  const auto s = static_cast<double>(duration.count());
  if (s < 120) return fmt::format("{} s", duration.count());
  if (s < 2 * 3600) return fmt::format("{:.1f} min", s / 60);
  if (s < 2 * 86'400) return fmt::format("{:.1f} h", s / 3600);
  return fmt::format("{:.1f} d", s / 86'400);
}

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    const auto character = text.substr(at, std::max<std::size_t>(length, 1));
    if (length == 0 || commands_a_terminal(character))
      shown += '?';
    else
      shown += character;
    at += character.size();
  }
  return shown;
}

std::string aligned(std::span<const std::vector<std::string>> rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], columns_of(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      text += row[i];
      text.append(widths[i] - columns_of(row[i]) + 2, ' ');
    }
    text += row.empty() ? "\n" : row.back() + "\n";
  }
  return text;
}

}  // namespace schedmate
