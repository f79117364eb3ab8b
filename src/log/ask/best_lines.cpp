// SPDX-License-Identifier: Apache-2.0

/// The lines that fit a question best: BM25 (Robertson and Zaragoza 2009) over the distinct lines.

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/characters.hpp"
#include "log/ask/ask.hpp"

namespace schedmate::ask {
namespace {

/// Words of a question that say nothing about a line.
bool is_common(std::string_view word) {
  constexpr std::array<std::string_view, 44> common = {
      "the", "is",   "it",   "a",    "an",    "of",    "to",   "in",   "on",   "did", "does",
      "do",  "was",  "were", "are",  "what",  "which", "how",  "why",  "when", "who", "where",
      "has", "have", "had",  "this", "that",  "for",   "with", "and",  "or",   "be",  "its",
      "at",  "my",   "job",  "log",  "there", "any",   "much", "many", "used", "use", "run"};
  return std::ranges::find(common, word) != common.end();
}

/// Lower-case words; a plural and a past tense meet their stem half-way.
std::vector<std::string> stems_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    const bool letter = is_letter(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80;
    if (letter)
      words.back() += lower(c);
    else if (!words.back().empty())
      words.emplace_back();
  }
  for (std::string& word : words) {
    if (word.size() > 4 && word.ends_with("s")) word.pop_back();
    if (word.size() > 5 && word.ends_with("ed")) word.resize(word.size() - 2);
    if (word.size() > 6 && word.ends_with("ing")) word.resize(word.size() - 3);
  }
  std::erase_if(words, [](const std::string& word) { return word.empty(); });
  return words;
}

}  // namespace

std::vector<IndexedLine> best_lines(std::string_view question, const LogIndex& index,
                                    std::size_t count) {
  constexpr double k1 = 1.2;
  constexpr double b = 0.5;
  auto asked = stems_of(question);
  std::erase_if(asked, [](const std::string& word) { return is_common(word); });
  std::vector<std::map<std::string, int>> found(index.distinct_lines.size());
  std::map<std::string, double> lines_with;
  double length = 0;
  std::vector<double> lengths;
  for (std::size_t i = 0; i < index.distinct_lines.size(); ++i) {
    const auto words = stems_of(index.distinct_lines[i].last.text);
    lengths.push_back(static_cast<double>(words.size()));
    length += lengths.back();
    for (const auto& word : words)
      if (std::ranges::find(asked, word) != asked.end() && ++found[i][word] == 1)
        lines_with[word] += 1;
  }
  const auto total = static_cast<double>(index.distinct_lines.size());
  const double usual = std::max(1.0, length / std::max(1.0, total));
  std::vector<std::pair<double, std::size_t>> scored;
  for (std::size_t i = 0; i < found.size(); ++i) {
    double score = 0;
    for (const auto& [word, times] : found[i]) {
      const double rarity =
          std::log(1 + (total - lines_with[word] + 0.5) / (lines_with[word] + 0.5));
      score += rarity * times * (k1 + 1) / (times + k1 * (1 - b + b * lengths[i] / usual));
    }
    if (score > 0) scored.emplace_back(-score, i);
  }
  std::ranges::stable_sort(scored, {}, &std::pair<double, std::size_t>::first);
  std::vector<IndexedLine> best;
  for (const auto& [score, i] : scored) {
    if (best.size() == count) break;
    best.push_back(index.distinct_lines[i].last);
  }
  return best;
}

bool covers(std::string_view question, const LogIndex& index) {
  auto asked = stems_of(question);
  std::erase_if(asked, [](const std::string& word) { return is_common(word); });
  if (asked.empty()) return false;
  return std::ranges::any_of(index.distinct_lines, [&](const DistinctLine& line) {
    const auto words = stems_of(line.last.text);
    const auto met = std::ranges::count_if(asked, [&](const std::string& word) {
      return std::ranges::find(words, word) != words.end();
    });
    return 2 * static_cast<std::size_t>(met) >= asked.size();
  });
}

}  // namespace schedmate::ask
