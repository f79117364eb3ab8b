// SPDX-License-Identifier: Apache-2.0
#include "slurm/conf_lines.hpp"

#include <cctype>

#include "base/text.hpp"

namespace schedmate::slurm {
namespace {

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_of_key(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

/// Of a line: up to a '#' that no backslash makes a letter.
std::size_t comment_begin(std::string_view line) {
  bool is_escaped = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '#' && !is_escaped) return i;
    is_escaped = line[i] == '\\' && !is_escaped;
  }
  return line.size();
}

/// Where the backslash stands that continues the line; npos: it ends here.
std::size_t continuation(std::string_view line) {
  std::size_t last = line.size();
  while (last > 0 && is_blank(line[last - 1])) --last;
  std::size_t first = last;
  while (first > 0 && line[first - 1] == '\\') --first;
  return (last - first) % 2 == 1 ? last - 1 : std::string_view::npos;
}

/// The bytes of a line that count, each with its place in the text.
struct Joined {
  std::string text;
  std::vector<std::size_t> where;

  void add(std::string_view part, std::size_t at) {
    text += part;
    for (std::size_t i = 0; i < part.size(); ++i) where.push_back(at + i);
  }
};

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && is_blank(text[at])) ++at;
  return at;
}

std::size_t word_end(std::string_view text, std::size_t at) {
  while (at < text.size() && !is_blank(text[at])) ++at;
  return at;
}

/// What follows the '='. Gives the place behind it.
std::size_t take_value(const Joined& line, std::size_t at, ConfValue& value) {
  const std::string_view text = line.text;
  at = skip_blanks(text, at);
  if (at == text.size()) return at;
  const std::size_t closing = text[at] == '"' ? text.find('"', at + 1) : std::string_view::npos;
  const bool is_quoted = closing != std::string_view::npos;
  const std::size_t begin = is_quoted ? at + 1 : at;
  const std::size_t end = is_quoted ? closing : word_end(text, at);
  value.value = text.substr(begin, end - begin);
  value.is_plain = value.is_plain && !value.value.contains('\\');
  if (end > begin) value.end = line.where[end - 1] + 1;
  return is_quoted ? closing + 1 : end;
}

std::vector<ConfValue> values_of(const Joined& line) {
  std::vector<ConfValue> values;
  const std::string_view text = line.text;
  for (std::size_t at = skip_blanks(text, 0); at < text.size(); at = skip_blanks(text, at)) {
    std::size_t end = at;
    while (end < text.size() && is_of_key(text[end])) ++end;
    ConfValue value{.key = lower_case(text.substr(at, end - at)), .value = {}};
    std::size_t sign = skip_blanks(text, end);
    if (sign + 1 < text.size() && text[sign + 1] == '=' &&
        std::string_view("+-*/").contains(text[sign])) {
      value.is_plain = false;
      ++sign;
    }
    if (end == at || sign >= text.size() || text[sign] != '=') {
      at = word_end(text, std::max(at, end));
      continue;
    }
    at = take_value(line, sign + 1, value);
    values.push_back(std::move(value));
  }
  return values;
}

std::string included_by(std::string_view text) {
  constexpr std::string_view word = "include";
  const std::size_t begin = skip_blanks(text, 0);
  const std::size_t end = word_end(text, begin);
  if (lower_case(text.substr(begin, end - begin)) != word) return {};
  const std::size_t name = skip_blanks(text, end);
  return std::string(text.substr(name, word_end(text, name) - name));
}

}  // namespace

std::vector<ConfLine> conf_lines(std::string_view text) {
  std::vector<ConfLine> lines;
  std::size_t number = 1;
  for (std::size_t at = 0; at < text.size();) {
    ConfLine line{.begin = at, .number = number};
    Joined joined;
    for (bool goes_on = true; goes_on && at < text.size(); ++number) {
      const std::size_t line_end = text.find('\n', at);
      const std::size_t next = line_end == std::string_view::npos ? text.size() : line_end + 1;
      std::string_view part = text.substr(at, next - at);
      part = part.substr(0, comment_begin(part));
      const std::size_t backslash = continuation(part);
      goes_on = backslash != std::string_view::npos;
      joined.add(goes_on ? part.substr(0, backslash) : part, at);
      at = next;
    }
    line.end = at;
    line.include = included_by(joined.text);
    if (line.include.empty()) line.values = values_of(joined);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace schedmate::slurm
