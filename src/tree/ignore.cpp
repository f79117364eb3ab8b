// SPDX-License-Identifier: Apache-2.0
#include "tree/ignore.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <ranges>
#include <span>

#include "base/text.hpp"

namespace schedmate::tree {
namespace {

/// One element of a glob: how long it is, and whether it takes the letter.
struct Element {
  std::size_t length = 1;
  bool takes = false;
};

/// "[a-z]" or "[!a-z]" at the start of `pattern`; nothing when it is never closed.
std::optional<Element> letter_set(std::string_view pattern, char letter) {
  std::size_t at = 1;
  const bool negated = at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^');
  if (negated) ++at;
  bool found = false;
  for (const std::size_t first = at; at < pattern.size(); ++at) {
    if (pattern[at] == ']' && at > first) return Element{at + 1, found != negated};
    char low = pattern[at];
    if (low == '\\' && at + 1 < pattern.size()) low = pattern[++at];
    char high = low;
    if (at + 2 < pattern.size() && pattern[at + 1] == '-' && pattern[at + 2] != ']') {
      high = pattern[at += 2];
    }
    found = found || (low <= letter && letter <= high);
  }
  return std::nullopt;
}

Element element(std::string_view pattern, char letter) {
  if (pattern.front() == '?') return {1, true};
  if (pattern.front() == '\\' && pattern.size() > 1) return {2, pattern[1] == letter};
  if (pattern.front() == '[') {
    if (const auto set = letter_set(pattern, letter)) return *set;
  }
  return {1, pattern.front() == letter};
}

using Parts = std::span<const std::string>;
using NameSpan = std::span<const std::string_view>;

/// Row by row over the pattern's parts: fits[i] says whether the first i names are taken so far.
bool parts_match(Parts parts, NameSpan names) {
  std::vector<char> fits(names.size() + 1, 0);
  fits[0] = 1;
  for (const std::string& part : parts) {
    if (part == "**") {
      for (std::size_t i = 1; i < fits.size(); ++i)
        fits[i] = fits[i] != 0 || fits[i - 1] != 0 ? '\1' : '\0';
      continue;
    }
    for (std::size_t i = names.size(); i > 0; --i) {
      fits[i] = fits[i - 1] != 0 && glob_matches(part, names[i - 1]) ? 1 : 0;
    }
    fits[0] = 0;
  }
  return fits.back() != 0;
}

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view name) {
  std::size_t at = 0;
  std::size_t in = 0;
  // Only the last '*' ever has to take one letter more.
  std::optional<std::size_t> star;
  std::size_t star_in = 0;
  while (in < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      star_in = in;
      continue;
    }
    const Element next = at < pattern.size() ? element(pattern.substr(at), name[in]) : Element{};
    if (next.takes) {
      at += next.length;
      ++in;
    } else if (star) {
      at = *star + 1;
      in = ++star_in;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

Result<IgnoreRules::Pattern> IgnoreRules::parse_line(std::string_view line, int number) {
  if (line.size() > most_bytes) {
    return fail(ErrorCode::invalid,
                fmt::format(".schedmateignore:{}: the pattern is longer than {} bytes", number,
                            most_bytes));
  }
  Pattern pattern;
  if (line.starts_with('!')) {
    pattern.take_back = true;
    line.remove_prefix(1);
  }
  if (line.ends_with('/')) {
    pattern.folders_only = true;
    line.remove_suffix(1);
  }
  // A '/' within the pattern ties it to the root; without one it fits at any depth.
  if (line.find('/') == std::string_view::npos) pattern.parts.emplace_back("**");
  for (const std::string_view part : split(line, '/')) {
    if (!part.empty()) pattern.parts.emplace_back(part);
  }
  // "a/**" is what lies in a, not a itself.
  if (pattern.parts.size() > 1 && pattern.parts.back() == "**") pattern.parts.emplace_back("*");
  return pattern;
}

Result<IgnoreRules> IgnoreRules::parse(std::string_view text) {
  IgnoreRules rules;
  int number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    while (line.ends_with(' ') && !line.ends_with("\\ ")) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#') || line == "!" || line == "/") continue;
    auto pattern = parse_line(line, number);
    if (!pattern) return tl::unexpected(pattern.error());
    if (rules.patterns_.size() == most_patterns) {
      return fail(ErrorCode::invalid,
                  fmt::format(".schedmateignore has more than {} patterns", most_patterns));
    }
    rules.patterns_.push_back(std::move(*pattern));
  }
  return rules;
}

bool IgnoreRules::last_says(std::string_view path, bool is_folder) const {
  const auto names = split(path, '/');
  for (const auto& pattern : patterns_ | std::views::reverse) {
    if (pattern.folders_only && !is_folder) continue;
    if (parts_match(pattern.parts, names)) return !pattern.take_back;
  }
  return false;
}

bool IgnoreRules::ignores(std::string_view path, bool is_folder) const {
  if (patterns_.empty()) return false;
  for (std::size_t end = path.find('/'); end != std::string_view::npos;
       end = path.find('/', end + 1)) {
    if (last_says(path.substr(0, end), true)) return true;
  }
  return last_says(path, is_folder);
}

}  // namespace schedmate::tree
