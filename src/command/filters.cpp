// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.hpp"
#include "command/bc.hpp"
#include "command/shell.hpp"

namespace schedmate::command {

Text run_filter(Shell& shell, const Arguments& argv);

namespace {

std::vector<std::string> words_of(const Arguments& argv) {
  std::vector<std::string> words;
  for (const auto& argument : argv) words.push_back(written(argument.text));
  return words;
}

bool has(const std::vector<std::string>& words, std::string_view wanted) {
  return std::ranges::find(words, wanted) != words.end();
}

std::string one_character(std::string text) {
  if (text == "\\n") return "\n";
  if (text == "\\t") return "\t";
  return text;
}

/// Line ends can be counted where the lines themselves are not known.
Text count(const Text& input, const std::vector<std::string>& words, const Arguments& argv) {
  std::int64_t number = 0;
  if (has(words, "-l")) {
    for (const auto& piece : input) number += std::ranges::count(piece.text, '\n');
    const bool vague = std::ranges::any_of(
        input, [](const Piece& piece) { return !piece.known && piece.text.empty(); });
    if (vague) return not_known(argv);
  } else if (has(words, "-w")) {
    if (!known(input)) return not_known(argv);
    number = static_cast<std::int64_t>(split_at_blanks(input).size());
  } else {
    return not_known(argv);
  }
  const auto place = place_of(input) ? place_of(input) : argv.front().use;
  return literal(std::to_string(number) + "\n", place);
}

std::optional<std::string> translated(std::string text, const std::vector<std::string>& words) {
  if (words.size() != 3) return std::nullopt;
  const auto from = one_character(words[1]);
  const auto to = one_character(words[2]);
  if (words[1] == "-d") {
    std::erase_if(text, [&](char c) { return to.contains(c); });
    return to.contains('-') || to.contains('[') ? std::nullopt : std::optional(text);
  }
  const auto is_class = [](std::string_view set, std::string_view range, std::string_view name) {
    return set == range || set == name;
  };
  const bool up = is_class(from, "a-z", "[:lower:]") && is_class(to, "A-Z", "[:upper:]");
  const bool down = is_class(from, "A-Z", "[:upper:]") && is_class(to, "a-z", "[:lower:]");
  if (!up && !down && (from.size() != 1 || to.size() != 1)) return std::nullopt;
  for (char& c : text) {
    if (up && c >= 'a' && c <= 'z') {
      c = static_cast<char>(c - 32);
    } else if (down && c >= 'A' && c <= 'Z') {
      c = static_cast<char>(c + 32);
    } else if (!up && !down && c == from[0]) {
      c = to[0];
    }
  }
  return text;
}

/// `echo "10 / 4" | bc`: one line.
std::optional<std::string> decimal(std::string_view text, const std::vector<std::string>& words) {
  constexpr int scale_of_library = 20;
  auto made = calculate_decimal(text, has(words, "-l") ? scale_of_library : 0);
  if (made) *made += '\n';
  return made;
}

}  // namespace

Text run_filter(Shell& shell, const Arguments& argv) {
  const auto words = words_of(argv);
  const bool words_known =
      std::ranges::all_of(argv, [](const Argument& a) { return known(a.text); });
  if (shell.input() == nullptr || !words_known) return not_known(argv);
  const Text& input = *shell.input();
  if (words[0] == "wc") return count(input, words, argv);
  const auto text = plain(input);
  std::optional<std::string> made;
  if (text && words[0] == "tr") made = translated(*text, words);
  if (text && words[0] == "bc") made = decimal(*text, words);
  const auto place = place_of(input) ? place_of(input) : argv.front().use;
  return made ? literal(std::move(*made), place) : not_known(argv);
}

}  // namespace schedmate::command
