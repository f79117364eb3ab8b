// SPDX-License-Identifier: Apache-2.0
#include "command/shell_lexer.hpp"

#include <algorithm>
#include <string>

namespace schedmate::command {
namespace {

constexpr int deepest_quote = 200;
constexpr int most_here_documents = 100;

bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool is_mark(char c) { return std::string_view(" \t\n;&|()<>").contains(c); }

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool is_name_char(char c) { return is_name_start(c) || (c >= '0' && c <= '9'); }

std::string unquoted(std::string_view word) {
  std::string plain;
  for (const char c : word) {
    if (!std::string_view("'\"\\").contains(c)) plain += c;
  }
  return plain;
}

}  // namespace

std::size_t name_length(std::string_view text) {
  if (text.empty() || !is_name_start(text.front())) return 0;
  const auto end = std::ranges::find_if_not(text, is_name_char);
  return static_cast<std::size_t>(end - text.begin());
}

bool is_name(std::string_view text) { return !text.empty() && name_length(text) == text.size(); }

std::size_t Scanner::give_up() {
  closed_ = false;
  return text_.size();
}

std::size_t Scanner::blanks(std::size_t at) const {
  while (at < text_.size()) {
    if (is_blank(text_[at])) {
      ++at;
    } else if (text_[at] == '\\' && this->at(at + 1) == '\n') {
      at += 2;
    } else {
      break;
    }
  }
  return at;
}

std::size_t Scanner::single_quoted(std::size_t at, bool escapes) {
  while (at < text_.size() && text_[at] != '\'') at += escapes && text_[at] == '\\' ? 2 : 1;
  return at < text_.size() ? at + 1 : give_up();
}

std::size_t Scanner::double_quoted(std::size_t at) {
  while (at < text_.size() && text_[at] != '"') at = text_[at] == '\'' ? at + 1 : unit(at);
  return at < text_.size() ? at + 1 : give_up();
}

std::size_t Scanner::backquoted(std::size_t at) {
  while (at < text_.size() && text_[at] != '`') at += text_[at] == '\\' ? 2 : 1;
  return at < text_.size() ? at + 1 : give_up();
}

std::size_t Scanner::braces(std::size_t at) {
  if (++depth_ > deepest_quote) return give_up();
  while (at < text_.size() && text_[at] != '}') at = unit(at);
  --depth_;
  return at < text_.size() ? at + 1 : give_up();
}

std::size_t Scanner::here_document(std::size_t at) {
  if (++here_documents_ > most_here_documents) return at;  // each may search the whole text
  const bool indented = this->at(at) == '-';
  const std::size_t begin = blanks(at + (indented ? 1 : 0));
  const std::size_t end = word(begin);
  const std::string last = unquoted(text_.substr(begin, end - begin));
  std::size_t line = text_.find('\n', end);
  while (line != std::string_view::npos && !last.empty()) {
    const std::size_t next = text_.find('\n', ++line);
    auto content = text_.substr(line, next - line);
    while (indented && content.starts_with('\t')) content.remove_prefix(1);
    if (content == last) return line + content.size();
    line = next;
  }
  return end;
}

std::size_t Scanner::parentheses(std::size_t at) {
  if (++depth_ > deepest_quote) return give_up();
  const bool arithmetic = this->at(at) == '(';
  while (at < text_.size() && text_[at] != ')') {
    const char c = text_[at];
    const bool after_blank = is_blank(text_[at - 1]) || text_[at - 1] == '\n';
    if (c == '(') {
      at = parentheses(at + 1);
    } else if (c == '#' && after_blank && !arithmetic) {
      at = std::min(text_.find('\n', at), text_.size());
    } else if (c == '<' && this->at(at + 1) == '<' && this->at(at + 2) != '<' && !arithmetic) {
      at = here_document(at + 2);
    } else {
      at = unit(at);
    }
  }
  --depth_;
  return at < text_.size() ? at + 1 : give_up();
}

std::size_t Scanner::dollar(std::size_t at) {
  switch (this->at(at + 1)) {
    case '(':
      return parentheses(at + 2);
    case '{':
      return braces(at + 2);
    case '\'':
      return single_quoted(at + 2, true);
    case '"':
      return double_quoted(at + 2);
    default:
      return at + 1;
  }
}

std::size_t Scanner::unit(std::size_t at) {
  switch (text_[at]) {
    case '\\':
      return std::min(at + 2, text_.size());
    case '\'':
      return single_quoted(at + 1, false);
    case '"':
      if (++depth_ > deepest_quote) return give_up();
      at = double_quoted(at + 1);
      --depth_;
      return at;
    case '`':
      return backquoted(at + 1);
    case '$':
      return dollar(at);
    default:
      return at + 1;
  }
}

std::size_t Scanner::word(std::size_t at) {
  const std::size_t begin = at;
  bool array_seen = false;
  while (at < text_.size()) {
    const char c = text_[at];
    if (c == '\\' && this->at(at + 1) == '\n') {  // a continued line inside a word
      at += 2;
    } else if ((c == '<' || c == '>') && this->at(at + 1) == '(' && at == begin) {
      at = parentheses(at + 2);
    } else if (c == '(' && at > begin) {
      const bool array =
          !array_seen && text_[at - 1] == '=' && split_assignment(text_.substr(begin, at - begin));
      if (!array && !std::string_view("@?*+!").contains(text_[at - 1])) break;
      array_seen = true;
      at = parentheses(at + 1);
    } else if (is_mark(c)) {
      break;
    } else {
      at = unit(at);
    }
  }
  return std::min(at, text_.size());
}

std::optional<AssignmentWord> split_assignment(std::string_view word) {
  AssignmentWord found;
  std::size_t at = name_length(word);
  if (at == 0) return std::nullopt;
  found.name = word.substr(0, at);
  if (at < word.size() && word[at] == '[') {
    const std::size_t end = word.find(']', at);
    if (end == std::string_view::npos) return std::nullopt;
    found.index = word.substr(at + 1, end - at - 1);
    at = end + 1;
  }
  if (word.substr(at).starts_with("+=")) {
    found.append = true;
    ++at;
  }
  if (at >= word.size() || word[at] != '=') return std::nullopt;
  found.value = word.substr(at + 1);
  return found;
}

std::vector<Range> words_in(std::string_view text) {
  std::vector<Range> found;
  Scanner scanner(text);
  std::size_t at = 0;
  while ((at = scanner.blanks(at)) < text.size()) {
    if (text[at] == '\n') {
      ++at;
      continue;
    }
    if (text[at] == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    std::size_t end = scanner.word(at);
    if (end == at) end = at + (at + 1 < text.size() && text[at + 1] == text[at] ? 2 : 1);
    found.push_back({at, end});
    at = end;
  }
  return found;
}

}  // namespace schedmate::command
