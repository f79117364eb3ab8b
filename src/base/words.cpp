// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/utf8.hpp"

namespace schedmate {
namespace {

// Marks of styled(): code points that no text of others may hold (Unicode, "noncharacters").
constexpr std::uint32_t first_mark = 0xFDD0;
constexpr std::uint32_t end_mark = 0xFDEF;
constexpr std::array<std::string_view, 5> colours_of_styles{"\033[1m", "\033[2m", "\033[31m",
                                                            "\033[32m", "\033[33m"};

/// The colour that a mark stands for; "" for what is no mark.
std::string_view colour_of(std::uint32_t code) {
  if (code == end_mark) return "\033[0m";
  const std::uint32_t style = code - first_mark;
  return code >= first_mark && style < colours_of_styles.size() ? colours_of_styles[style] : "";
}

/// Calls `show(character, code)` for each character; a byte that is none has code 0.
template <class Show>
void each_character(std::string_view text, Show show) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    const std::string_view character = text.substr(at, std::max<std::size_t>(length, 1));
    show(character, length == 0 ? 0 : code_point(text, at, length));
    at += character.size();
  }
}

/// Characters, not bytes; marks of styled() take no room.
std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  each_character(text, [&](std::string_view, std::uint32_t code) {
    if (colour_of(code).empty()) ++width;
  });
  return width;
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
  each_character(text, [&](std::string_view character, std::uint32_t code) {
    shown += is_unsafe(code) ? "?" : character;
  });
  return shown;
}

std::string styled(Style style, std::string_view text) {
  std::string marked;
  append_utf8(marked, first_mark + static_cast<std::uint32_t>(style));
  marked += text;
  append_utf8(marked, end_mark);
  return marked;
}

std::string for_terminal(std::string_view text, bool colours) {
  std::string shown;
  shown.reserve(text.size());
  each_character(text, [&](std::string_view character, std::uint32_t code) {
    const std::string_view colour = colour_of(code);
    if (!colour.empty())
      shown += colours ? colour : "";
    else if (code == '\n' || code == '\t')
      shown += character;
    else
      shown += is_unsafe(code) ? "?" : character;
  });
  return shown;
}

std::string aligned(std::span<const std::vector<std::string>> rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      text += row[i];
      text.append(widths[i] - width_of(row[i]) + 2, ' ');
    }
    text += row.empty() ? "\n" : row.back() + "\n";
  }
  return text;
}

}  // namespace schedmate
