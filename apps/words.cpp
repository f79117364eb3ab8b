// SPDX-License-Identifier: Apache-2.0
#include "apps/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace schedmate {

std::string in_words(Seconds duration) {
  const auto s = static_cast<double>(duration.count());
  if (s < 120) return fmt::format("{} s", duration.count());
  if (s < 2 * 3600) return fmt::format("{:.1f} min", s / 60);
  if (s < 2 * 86'400) return fmt::format("{:.1f} h", s / 3600);
  return fmt::format("{:.1f} d", s / 86'400);
}

std::string printable(std::string_view text) {
  std::string shown(text);
  std::ranges::replace_if(shown, [](unsigned char c) { return c < 0x20 || c == 0x7F; }, '?');
  return shown;
}

std::string aligned(std::span<const std::vector<std::string>> rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      fmt::format_to(std::back_inserter(text), "{:<{}}  ", row[i], widths[i]);
    }
    text += row.empty() ? "\n" : row.back() + "\n";
  }
  return text;
}

}  // namespace schedmate
