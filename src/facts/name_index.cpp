// SPDX-License-Identifier: Apache-2.0
#include "facts/name_index.hpp"

#include <algorithm>
#include <cctype>

#include "base/characters.hpp"
#include "base/text.hpp"

namespace schedmate::facts {
namespace {

constexpr std::size_t longest_text = 400;

bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool is_lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return is_upper(c) || is_lower(c) || is_digit(c); }

/// Does a new word start at `at` within letters? "SimpleNet" has two, "LMHead" too.
bool starts_word(std::string_view text, std::size_t start, std::size_t at) {
  if (at == start || !is_upper(text[at])) return false;
  return is_lower(text[at - 1]) || (at + 1 < text.size() && is_lower(text[at + 1]));
}

std::size_t end_of_token(std::string_view text, std::size_t start) {
  auto end = start;
  if (is_digit(text[start])) {
    while (end < text.size() &&
           (is_digit(text[end]) || (text[end] == '.' && end + 1 < text.size() &&
                                    is_digit(text[end + 1]) && is_digit(text[end - 1]))))
      ++end;
    return end;
  }
  while (end < text.size() && is_word(text[end]) && !is_digit(text[end]) &&
         !starts_word(text, start, end))
    ++end;
  return end;
}

std::string_view without_ending(std::string_view text) {
  for (const auto* ending : {".yaml", ".yml", ".json", ".jsonl", ".py", ".pth", ".pt", ".ckpt",
                             ".cfg", ".bin", ".txt", ".csv", ".zip", ".tar"}) {
    if (text.ends_with(ending))
      return text.substr(0, text.size() - std::string_view(ending).size());
  }
  return text;
}

// A common word counts when it is all of the last part of a path.
bool is_whole_name(const std::vector<NameToken>& tokens, std::size_t first, std::size_t last) {
  const bool opens_part = first == 0 || tokens[first - 1].part != tokens[first].part;
  return opens_part && last + 1 == tokens.size() && tokens[first].part == tokens[last].part;
}

}  // namespace

std::vector<NameToken> name_tokens(std::string_view text) {
  text = without_ending(trim(text.substr(0, longest_text)));
  std::vector<NameToken> tokens;
  bool opens = true;
  std::size_t part = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '+') {  // DeepLabV3+ and deeplabv3plus are one
      tokens.push_back({"plus", opens, false, part});
      opens = true;
      ++at;
      continue;
    }
    if (!is_word(text[at])) {
      opens = true;
      if (text[at] == '/' || text[at] == '\\') ++part;
      ++at;
      continue;
    }
    const auto end = std::max(end_of_token(text, at), at + 1);
    NameToken token{std::string(text.substr(at, end - at)), opens, is_digit(text[at]), part};
    for (char& c : token.text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    tokens.push_back(std::move(token));
    opens = false;
    at = end;
  }
  return tokens;
}

std::string name_key(const std::vector<NameToken>& tokens, std::size_t first, std::size_t last) {
  std::string key;
  for (auto i = first; i <= last && i < tokens.size(); ++i) {
    if (i > first && tokens[i].is_number && tokens[i - 1].is_number) key += '_';
    key += tokens[i].text;
  }
  return key;
}

std::string name_key(std::string_view text) {
  const auto tokens = name_tokens(text);
  return tokens.empty() ? "" : name_key(tokens, 0, tokens.size() - 1);
}

std::optional<SizeInName> size_behind(const std::vector<NameToken>& tokens, std::size_t after) {
  for (auto i = after + 1; i + 1 < tokens.size(); ++i) {
    const auto& unit = tokens[i + 1];
    if (!tokens[i].is_number || unit.opens || (unit.text != "b" && unit.text != "m")) continue;
    if (!tokens[i].opens && i != after + 1) continue;
    std::string digits = tokens[i].text;
    // 1b7 is 1.7 billion.
    const bool has_more = i + 2 < tokens.size() && !tokens[i + 2].opens;
    if (has_more && tokens[i + 2].is_number && !digits.contains('.'))
      digits += "." + tokens[i + 2].text;
    else if (has_more)
      continue;
    const auto number = parse_number<double>(digits);
    if (!number || *number <= 0 || *number > 2000) continue;
    const bool billions = unit.text == "b";
    return SizeInName{billions ? *number * 1000 : *number, digits + (billions ? "B" : "M")};
  }
  return std::nullopt;
}

const NameEntry* NameIndex::add(std::string_view name, NameEntry entry) {
  const auto tokens = name_tokens(name);
  if (tokens.empty()) return nullptr;
  longest_ = std::max(longest_, tokens.size());
  const auto [held, is_new] = entries_.emplace(name_key(tokens, 0, tokens.size() - 1), entry);
  return is_new || held->second.row == entry.row ? nullptr : &held->second;
}

void NameIndex::remove_row(std::size_t row) {
  std::erase_if(entries_, [&](const auto& entry) { return entry.second.row == row; });
}

const NameEntry* NameIndex::find(std::string_view name) const {
  const auto found = entries_.find(name_key(name));
  return found == entries_.end() ? nullptr : &found->second;
}

std::optional<NameHit> NameIndex::search(std::string_view text,
                                         const std::vector<std::string_view>& endings) const {
  const auto tokens = name_tokens(text);
  std::optional<NameHit> best;
  std::size_t best_length = 0;
  for (std::size_t first = 0; first < tokens.size(); ++first) {
    if (!tokens[first].opens) continue;
    std::string key;
    for (auto last = first; last < tokens.size() && last - first < longest_; ++last) {
      if (last > first && tokens[last].is_number && tokens[last - 1].is_number) key += '_';
      key += tokens[last].text;
      const auto found = entries_.find(key);
      if (found == entries_.end() || key.size() < best_length) continue;
      const NameEntry& entry = found->second;
      const auto size = entry.sized ? size_behind(tokens, last) : std::nullopt;
      const bool closes = last + 1 == tokens.size() || tokens[last + 1].opens;
      const bool ends_well =
          !closes && std::ranges::find(endings, tokens[last + 1].text) != endings.end();
      const bool at_size = size && tokens[last + 1].is_number;
      if (!closes && !ends_well && !at_size) continue;
      if (entry.weak && !is_whole_name(tokens, first, last) && !size && !ends_well) continue;
      best = NameHit{&entry, size};
      best_length = key.size();
    }
  }
  return best;
}

}  // namespace schedmate::facts
