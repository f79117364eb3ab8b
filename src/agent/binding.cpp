// SPDX-License-Identifier: Apache-2.0
#include "agent/binding.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/characters.hpp"

namespace schedmate::agent {
namespace {

/// "1.3b" and "350m" are one word; so is "13".
std::size_t end_of_number(std::string_view text, std::size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  if (at + 1 < text.size() && text[at] == '.' && is_digit(text[at + 1])) {
    ++at;
    while (at < text.size() && is_digit(text[at])) ++at;
  }
  const bool scale =
      at < text.size() && std::string_view("bmkBMK").find(text[at]) != std::string_view::npos;
  const bool ends = at + 1 >= text.size() || (!is_letter(text[at + 1]) && !is_digit(text[at + 1]));
  return scale && ends ? at + 1 : at;
}

std::size_t end_of_word(std::string_view text, std::size_t at) {
  while (at < text.size() && is_letter(text[at])) ++at;
  return at;
}

}  // namespace

std::string squeezed(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_letter(c) || is_digit(c)) out += lower(c);
  }
  return out;
}

std::vector<std::string> name_words(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_letter(text[at]) && !is_digit(text[at])) {
      ++at;
      continue;
    }
    const std::size_t end = is_digit(text[at]) ? end_of_number(text, at) : end_of_word(text, at);
    std::string word(text.substr(at, end - at));
    std::ranges::transform(word, word.begin(), lower);
    words.push_back(std::move(word));
    at = end;
  }
  return words;
}

std::string_view last_part(std::string_view dotted) {
  const std::size_t dot = dotted.rfind('.');
  return dot == std::string_view::npos ? dotted : dotted.substr(dot + 1);
}

TextKind text_kind(std::string_view path) {
  struct Row {
    std::string_view suffix;
    TextKind kind;
  };
  constexpr std::array rows = {
      Row{".py", TextKind::python},    Row{".yaml", TextKind::config},
      Row{".yml", TextKind::config},   Row{".json", TextKind::config},
      Row{".json5", TextKind::config}, Row{".jsonnet", TextKind::config},
      Row{".toml", TextKind::config},  Row{".ini", TextKind::config},
      Row{".cfg", TextKind::config},   Row{".conf", TextKind::config},
      Row{".gin", TextKind::config},   Row{".properties", TextKind::config},
      Row{".sh", TextKind::shell},     Row{".bash", TextKind::shell},
      Row{".slurm", TextKind::shell},  Row{".sbatch", TextKind::shell},
      Row{".sub", TextKind::shell},    Row{".zsh", TextKind::shell}};
  for (const Row& row : rows) {
    if (path.ends_with(row.suffix)) return row.kind;
  }
  return TextKind::other;
}

Bindings read_bindings(std::string_view text, TextKind kind) {
  switch (kind) {
    case TextKind::python:
      return python_bindings(text);
    case TextKind::config:
      return config_bindings(text);
    case TextKind::shell:
      return shell_bindings(text);
    case TextKind::other:
      break;
  }
  return {};
}

}  // namespace schedmate::agent
