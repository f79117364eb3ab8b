// SPDX-License-Identifier: Apache-2.0
#include "advisor/names.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "base/characters.hpp"
#include "base/text.hpp"

namespace schedmate::advisor {
namespace {

/// Bytes of UTF-8 beyond ASCII count as letters: names in any script stay whole.
constexpr bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80;
}

constexpr auto sizes =
    std::to_array<std::pair<std::string_view, std::string_view>>({{"nano", "n"},
                                                                  {"tiny", "t"},
                                                                  {"small", "s"},
                                                                  {"base", "b"},
                                                                  {"medium", "m"},
                                                                  {"large", "l"},
                                                                  {"xlarge", "xl"},
                                                                  {"huge", "h"},
                                                                  {"giant", "g"}});
constexpr auto size_letters =
    std::to_array<std::string_view>({"n", "t", "s", "b", "m", "l", "x", "xl", "h", "g"});
/// Words that say nothing about which model or data set it is.
constexpr auto fillers = std::to_array<std::string_view>(
    {"the", "a", "of", "and", "with", "model", "models", "dataset", "data", "set", "patch", "hf"});

/// "/share/x/llama-7b-hf" and "facebook/opt-6.7b" are named by their last part; "bert/large" is
/// neither a path nor longer than an owner and a name, so the last part serves there too.
std::string_view last_part(std::string_view name) {
  while (name.ends_with('/')) name.remove_suffix(1);
  const std::size_t slash = name.rfind('/');
  if (slash == std::string_view::npos) return name;
  const std::string_view last = name.substr(slash + 1);
  const bool is_path = name.starts_with('/') || name.starts_with('.') || name.starts_with('~') ||
                       name.starts_with('$');
  const auto letters = std::ranges::count_if(last, [](char c) { return is_name_letter(lower(c)); });
  constexpr int enough_for_a_name = 3;  // "ViT-L/16" is no path
  return is_path || letters >= enough_for_a_name ? last : name;
}

/// One word or number at `at`; moves `at` behind it.
std::string take_word(std::string_view name, std::size_t& at) {
  std::string word;
  if (!is_digit(name[at])) {
    while (at < name.size() && is_name_letter(lower(name[at]))) word += lower(name[at++]);
    return word;
  }
  while (at < name.size() && (is_digit(name[at]) ||
                              (name[at] == '.' && at + 1 < name.size() && is_digit(name[at + 1]))))
    word += name[at++];
  const bool suffix = at < name.size() && std::string_view("bmk").contains(lower(name[at])) &&
                      (at + 1 == name.size() || !is_name_letter(lower(name[at + 1])));
  if (suffix) word += lower(name[at++]);
  return word;
}

bool is_size(std::string_view word) {
  return is_digit(word.front()) || std::ranges::find(size_letters, word) != size_letters.end();
}

using Words = std::set<std::string_view>;

bool lacks_some(const Words& whole, const Words& part) {
  return !std::ranges::includes(whole, part);
}

}  // namespace

std::string normal_name(std::string_view name) {
  const std::string_view part = last_part(trim(name));
  std::string joined;
  for (std::size_t at = 0; at < part.size();) {
    if (!is_digit(part[at]) && !is_name_letter(lower(part[at]))) {
      ++at;
      continue;
    }
    std::string word = take_word(part, at);
    if (const auto* size = std::ranges::find(sizes, word, &decltype(sizes)::value_type::first);
        size != sizes.end())
      word = size->second;
    if (std::ranges::find(fillers, word) != fillers.end()) continue;
    joined += (joined.empty() ? "" : "-") + word;
  }
  return joined;
}

NameSimilarity compare_names(std::string_view a, std::string_view b) {
  Words words[2];
  Words size_words[2];
  const std::string_view names[2] = {a, b};
  for (int side = 0; side < 2; ++side) {
    for (const std::string_view word : split(names[side], '-')) {
      if (!word.empty()) (is_size(word) ? size_words : words)[side].insert(word);
    }
  }
  NameSimilarity similarity;
  similarity.sizes_differ =
      lacks_some(size_words[0], size_words[1]) && lacks_some(size_words[1], size_words[0]);
  const auto all = words[0].size() + words[1].size();
  const auto common = std::ranges::count_if(
      words[0], [&](std::string_view word) { return words[1].contains(word); });
  similarity.words = all == 0 ? 1.0 : 2.0 * static_cast<double>(common) / static_cast<double>(all);
  return similarity;
}

}  // namespace schedmate::advisor
