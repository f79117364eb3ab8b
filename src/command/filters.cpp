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

/// The value of `-f VALUE` or `-fVALUE`.
std::optional<std::string> option(const std::vector<std::string>& words, std::string_view name) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == name && i + 1 < words.size()) return words[i + 1];
    if (words[i].starts_with(name) && words[i].size() > name.size())
      return words[i].substr(name.size());
  }
  return std::nullopt;
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

std::optional<std::string> cut(std::string_view text, const std::vector<std::string>& words) {
  const auto mark = option(words, "-d").value_or("\t");
  const auto field = option(words, "-f");
  const auto index = field ? parse_number<std::size_t>(*field) : std::nullopt;
  if (mark.size() != 1 || !index || *index == 0) return std::nullopt;
  std::string made;
  for (const auto line :
       split(text.substr(0, text.ends_with('\n') ? text.size() - 1 : text.size()), '\n')) {
    const auto parts = split(line, mark[0]);
    if (parts.size() == 1) {
      made += line;
    } else if (*index <= parts.size()) {
      made += parts[*index - 1];
    }
    made += '\n';
  }
  return made;
}

std::optional<std::string> first_lines(std::string_view text,
                                       const std::vector<std::string>& words) {
  std::optional<std::size_t> wanted;
  for (const auto& candidate : {option(words, "-n"), option(words, "-")}) {
    if (!wanted && candidate) wanted = parse_number<std::size_t>(*candidate);
  }
  if (!wanted) return std::nullopt;
  auto lines = split(text.substr(0, text.ends_with('\n') ? text.size() - 1 : text.size()), '\n');
  const std::size_t from =
      words[0] == "head" || lines.size() < *wanted ? 0 : lines.size() - *wanted;
  std::string made;
  for (std::size_t i = from; i < lines.size() && i < from + *wanted; ++i)
    made += std::string(lines[i]) + "\n";
  return made;
}

/// `awk -F, '{print NF}'` and `awk '{print $2}'`.
std::optional<std::string> fields(std::string_view text, const std::vector<std::string>& words) {
  const auto mark = option(words, "-F").value_or(" ");
  auto program = words.back();
  std::erase(program, ' ');
  const bool numbered = program.starts_with("{print$") && program.ends_with("}");
  if (mark.size() != 1 || (program != "{printNF}" && !numbered)) return std::nullopt;
  const auto index = numbered ? parse_number<std::size_t>(program.substr(7, program.size() - 8))
                              : std::optional<std::size_t>(0);
  if (!index) return std::nullopt;
  auto parts = split(trim(text), mark[0]);
  if (mark == " ") std::erase(parts, "");
  if (text.find('\n') + 1 < text.size() || parts.empty()) return std::nullopt;
  if (!numbered) return std::to_string(parts.size()) + "\n";
  return *index >= 1 && *index <= parts.size()
             ? std::optional(std::string(parts[*index - 1]) + "\n")
             : std::nullopt;
}

/// `echo "10 / 4" | bc`: one line.
std::optional<std::string> decimal(std::string_view text, const std::vector<std::string>& words) {
  constexpr int scale_of_library = 20;
  auto made = calculate_decimal(text, has(words, "-l") ? scale_of_library : 0);
  if (made) *made += '\n';
  return made;
}

/// `expr 4 \* $N`
Text expression(Shell& shell, const Arguments& argv) {
  std::string all;
  for (std::size_t i = 1; i < argv.size(); ++i) {
    if (!known(argv[i].text)) return not_known(argv);
    all += written(argv[i].text) + " ";
  }
  if (all.find_first_not_of("0123456789+-*/%() ") != std::string::npos) return not_known(argv);
  const auto value = shell.expander().number(all, argv[0].use);
  return value ? literal(std::to_string(*value) + "\n", argv[0].use) : not_known(argv);
}

}  // namespace

Text run_filter(Shell& shell, const Arguments& argv) {
  const auto words = words_of(argv);
  if (words[0] == "expr") return expression(shell, argv);
  const bool words_known =
      std::ranges::all_of(argv, [](const Argument& a) { return known(a.text); });
  if (shell.input() == nullptr || !words_known) return not_known(argv);
  const Text& input = *shell.input();
  if (words[0] == "wc") return count(input, words, argv);
  const auto text = plain(input);
  std::optional<std::string> made;
  if (text && words[0] == "tr") made = translated(*text, words);
  if (text && words[0] == "cut") made = cut(*text, words);
  if (text && (words[0] == "head" || words[0] == "tail")) made = first_lines(*text, words);
  if (text && words[0] == "bc") made = decimal(*text, words);
  if (text && words[0] == "awk" && words.size() > 1) made = fields(*text, words);
  const auto place = place_of(input) ? place_of(input) : argv.front().use;
  return made ? literal(std::move(*made), place) : not_known(argv);
}

}  // namespace schedmate::command
