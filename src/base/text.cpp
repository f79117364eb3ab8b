// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/characters.hpp"

namespace schedmate {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> whole_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t next = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, next));
    text.remove_prefix(next);
  }
  return lines;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::vector<std::size_t> next(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, change});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) next[j] = std::min(next[j], before[j - 2] + 1);
    }
    std::swap(before, row);
    std::swap(row, next);
  }
  return row.back();
}

std::string_view nearest(std::string_view wanted, std::span<const std::string_view> names) {
  // What was only begun comes before what is spelled alike.
  const auto closest = std::ranges::min_element(names, {}, [&](std::string_view name) {
    const bool begun = !wanted.empty() && name.starts_with(wanted);
    return std::pair(!begun, edit_distance(wanted.substr(0, 64), name));
  });
  return closest == names.end() ? std::string_view{} : *closest;
}

std::string unknown_name(std::string_view kind, std::string_view wanted,
                         std::span<const std::string_view> names) {
  if (names.empty()) return fmt::format("unknown {} '{}' (there are none)", kind, wanted);
  return fmt::format("unknown {} '{}' (nearest: {}; all: {})", kind, wanted, nearest(wanted, names),
                     fmt::join(names, ", "));
}

std::string shell_quoted(std::string_view word) {
  std::string made = "'";
  for (const char c : word) made += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return made + "'";
}

std::string lower_case(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = lower(c);
  return small;
}

}  // namespace schedmate
