// SPDX-License-Identifier: Apache-2.0

/// How fast log lines are classified, on one core:
///
///   log_bench OUT LINES SOURCE...
///
/// Writes OUT, a corpus of LINES lines in real formats: the lines of the SOURCEs (JSON lines with a
/// `log`, or plain text) one after the other and over again, each copy with other digits, so that
/// no line is there twice while its template is; in one of 200 copies a word becomes another word
/// of the sources, as names differ from job to job. Then reads and classifies it, with an empty
/// cache of templates and with a warm one.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/text.hpp"
#include "log/failure/classify.hpp"
#include "log/lines/clean.hpp"
#include "log/lines/lines.hpp"

namespace schedmate {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  const std::string text = text_of(path);
  for (const auto row : split(text, '\n')) {
    if (row.empty()) continue;
    const auto document = nlohmann::json::parse(row, nullptr, false);
    if (!document.is_object() || !document.contains("log")) {
      lines.emplace_back(row);
      continue;
    }
    const auto log = document["log"].get<std::string>();
    for (const auto line : split(log, '\n'))
      if (line.size() < 4000) lines.emplace_back(line);
  }
  return lines;
}

/// Digits become others; a leading one never 0, so that a number stays a number of that length.
void vary(std::string& line, Random& random) {
  bool inside = false;
  for (char& c : line) {
    const bool digit = c >= '0' && c <= '9';
    if (digit && inside) c = static_cast<char>('0' + random.below(10));
    if (digit && !inside && c != '0') c = static_cast<char>('1' + random.below(9));
    inside = digit || (inside && c == '.');
  }
}

/// The letters that begin at or behind a random place, as begin and length.
std::pair<std::size_t, std::size_t> some_word(const std::string& line, Random& random) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const auto from =
      static_cast<std::size_t>(random.below(static_cast<std::int64_t>(line.size()) + 1));
  const auto begin = line.find_first_of(letters, from);
  if (begin == std::string::npos) return {line.size(), 0};
  return {begin, std::min(line.find_first_not_of(letters, begin), line.size()) - begin};
}

void rename(std::string& line, const std::vector<std::string>& lines, Random& random) {
  const auto& other =
      lines[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(lines.size())))];
  const auto [begin, length] = some_word(line, random);
  const auto [from, size] = some_word(other, random);
  constexpr std::size_t least = 4;
  if (length >= least && size >= least) line.replace(begin, length, other, from, size);
}

std::size_t write_corpus(const std::string& path, std::size_t count,
                         const std::vector<std::string>& lines) {
  std::ofstream out(path, std::ios::binary);
  Random random(1);
  std::unordered_set<std::uint64_t> templates;
  for (std::size_t i = 0; i < count; ++i) {
    std::string line = lines[i % lines.size()];
    if (i >= lines.size()) vary(line, random);
    if (random.below(200) == 0) rename(line, lines, random);
    templates.insert(lines::template_hash(line));
    out << line << '\n';
  }
  return templates.size();
}

void classify(const std::string& path, failure::LineKinds& kinds, const char* name) {
  const auto misses = kinds.misses();
  std::array<std::size_t, 4> seen{};
  std::string scratch;
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t lines = 0;
  const auto done = lines::each_line(path, [&](const lines::Line& line) {
    ++lines;
    for (const auto state : lines::states_of(lines::without_escapes(line.text, scratch)))
      ++seen[static_cast<std::size_t>(kinds.of(state).kind)];
    return true;
  });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  if (!done) fmt::print("{}\n", done.error().message);
  fmt::print(
      "{:<12} {:>10} {:>8.2f} {:>12.0f} {:>8}   {} failure, {} warning, {} progress, {} other\n",
      name, lines, took.count(), static_cast<double>(lines) / took.count(), kinds.misses() - misses,
      seen[0], seen[1], seen[2], seen[3]);
}

int run(const std::vector<std::string>& words) {
  const std::string& path = words[0];
  std::vector<std::string> lines;
  for (std::size_t i = 2; i < words.size(); ++i)
    for (auto& line : lines_of(words[i])) lines.push_back(std::move(line));
  if (lines.empty()) return 1;
  const auto wanted = parse_number<std::size_t>(words[1]).value_or(0);
  const auto templates = write_corpus(path, wanted, lines);
  fmt::print("{} source lines, {} lines written, {:.0f} MB, {} distinct templates\n", lines.size(),
             wanted, static_cast<double>(std::filesystem::file_size(path)) / 1e6, templates);
  fmt::print("{:<12} {:>10} {:>8} {:>12} {:>8}\n", "SchedMate", "lines read", "wall s", "lines/s",
             "misses");
  failure::LineKinds kinds(*failure::make_rules_classifier({}));
  classify(path, kinds, "cold cache");
  classify(path, kinds, "warm cache");
  return 0;
}

}  // namespace
}  // namespace schedmate

int main(int count, char** words) {
  if (count < 4) {
    fmt::print(stderr, "usage: log_bench OUT LINES SOURCE...\n");
    return 2;
  }
  return schedmate::run({words + 1, words + count});
}
