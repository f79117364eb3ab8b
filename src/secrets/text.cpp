// SPDX-License-Identifier: Apache-2.0
#include "secrets/text.hpp"

#include <array>

namespace schedmate::secrets {
namespace {

constexpr auto ends_bare_value = [] {
  std::array<bool, 256> ends{};
  for (const char c : std::string_view(" \t\r\n,;)}]\"'`&|<>"))
    ends[static_cast<unsigned char>(c)] = true;
  return ends;
}();

/// Does a line of prose or of a log begin so? Then it is none of these.
bool is_code_line(std::string_view line) {
  const auto begins = [&](std::string_view word) { return line.starts_with(word); };
  const auto holds = [&](std::string_view text) { return line.contains(text); };
  if (begins("#include") || begins("if __name__")) return true;
  if (begins("import ")) return line.size() < 120 && !holds(": ") && !holds("!") && !holds("%");
  if (begins("from ")) return holds(" import ");
  if (begins("def ") || begins("func ") || begins("function ")) return holds("(");
  if (begins("class ")) return holds(":") || holds("{");
  if (begins("const ") || begins("let ") || begins("var ")) return holds(" = ");
  return begins("package ") && line.find(' ', 8) == nowhere;
}

}  // namespace

std::size_t SecretText::after_escape(std::size_t at) const {
  return at_or_nul(text_, at) == '\\' ? at + 1 : at;
}

std::size_t SecretText::after_blanks(std::size_t at) const {
  for (int i = 0; i < 64 && at < text_.size() && is_blank(text_[at]); ++i) ++at;
  return at;
}

std::size_t SecretText::value_begin(std::size_t at) const {
  std::size_t end = at;
  while (end < at + 3 && is_among(at_or_nul(text_, end), "|>(\\+-[")) ++end;
  end = after_blanks(end);
  if (at_or_nul(text_, end) == '\r') ++end;
  if (at_or_nul(text_, end) != '\n') return at;
  std::size_t next = end + 1;
  while (next < text_.size() && next - end < 200 && is_blank(text_[next])) ++next;
  return next < text_.size() ? next : nowhere;
}

bool SecretText::goes_on(std::size_t at, char quote) const {
  if (at >= text_.size() || text_[at] == '\n') return false;
  if (quote != '\0') return text_[at] != quote;
  // A line end within a string of JSON.
  if (text_[at] == '\\' && is_among(at_or_nul(text_, at + 1), "nrt\"'")) return false;
  return !ends_bare_value[static_cast<unsigned char>(text_[at])];
}

/// "Bearer X" and "Basic X" are about X; so is f"Bearer X".
std::size_t SecretText::after_scheme(std::size_t at) const {
  std::size_t in = at;
  while (in < at + 3 && (is_quote(at_or_nul(text_, in)) || at_or_nul(text_, in) == '\\' ||
                         (in == at && is_quote(at_or_nul(text_, in + 1)))))
    ++in;
  for (const std::string_view scheme : {"bearer ", "basic ", "token ", "apikey "})
    if (equal_words(text_.substr(in, scheme.size()), scheme))
      return after_blanks(in + scheme.size());
  return at;
}

Value SecretText::value_at(std::size_t start) const {
  Value value;
  std::size_t at = after_scheme(start);
  value.after_scheme = at != start;
  // A prefix of a string (f"", b"", @"") and the '\' of a quote within a string.
  if (is_quote(at_or_nul(text_, at + 1)) && (is_letter(text_[at]) || text_[at] == '@'))
    value.prefix = text_[at++];
  const bool escaped = at_or_nul(text_, at) == '\\' && is_quote(at_or_nul(text_, at + 1));
  if (escaped) ++at;
  value.quoted = is_quote(at_or_nul(text_, at)) && opens_string(at);
  const char quote = value.quoted ? text_[at] : '\0';
  const bool triple = at_or_nul(text_, at + 1) == quote && at_or_nul(text_, at + 2) == quote;
  // A fence of Markdown opens no string, nor does the command of a shell: X=`pwd`.
  const bool is_command = quote == '`' && start > 0 && text_[start - 1] == '=';
  if ((triple && quote == '`') || is_command) value.quoted = false;
  if (value.quoted) at += triple ? 3 : 1;
  std::size_t end = at;
  const char closing = value.quoted ? quote : '\0';
  while (end - at < most_value && goes_on(end, closing)) {
    if (closing != '\0' && !escaped && text_[end] == '\\' && goes_on(end + 1, '\n') &&
        end + 1 - at < most_value)
      ++end;
    ++end;
  }
  if (escaped && end > at && text_[end - 1] == '\\') --end;
  value.span = {at, end};
  return value;
}

bool SecretText::opens_string(std::size_t at) const {
  const char quote = text_[at];
  bool open = false;
  for (std::size_t i = line_begin(text_, at, most_line); i < at; ++i) {
    if (text_[i] == '\\') {
      ++i;
    } else if (text_[i] == quote) {
      const bool apostrophe =
          quote == '\'' && i > 0 && is_letter(text_[i - 1]) && !open && is_letter(text_[i + 1]);
      if (!apostrophe) open = !open;
    }
  }
  return !open || (at > 0 && text_[at - 1] == '\\');
}

std::size_t SecretText::call_end(std::size_t open) const {
  int depth = 0;
  const std::size_t last = std::min(text_.size(), open + most_call);
  for (std::size_t at = open; at < last; ++at) {
    depth += text_[at] == '(' ? 1 : text_[at] == ')' ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  return last;
}

std::size_t SecretText::indent_at(std::size_t begin) const {
  std::size_t at = begin;
  while (at < text_.size() && is_blank(text_[at])) ++at;
  return at - begin;
}

bool SecretText::follows_set(std::size_t begin) const {
  constexpr std::array<std::string_view, 10> words = {
      "set", "setenv", "setx", "ENV", "ARG", "-x", "-gx", "-Ux", "config", "--global"};
  while (begin > 0 && ((is_word(text_[begin - 1]) || text_[begin - 1] == '-') ||
                       is_among(text_[begin - 1], ".:/")))
    --begin;
  if (begin < 2 || !is_blank(text_[begin - 1])) return false;
  std::size_t word = --begin;
  while (word > 0 && begin - word < 12 && !is_blank(text_[word - 1]) && text_[word - 1] != '\n')
    --word;
  return std::ranges::find(words, text_.substr(word, begin - word)) != words.end();
}

std::size_t SecretText::bare_end(std::size_t end) const {
  while (is_among(at_or_nul(text_, end), ",;)}]&|")) {
    const char after = at_or_nul(text_, end + 1);
    if (after == '\0' || is_among(after, " \t\r\n\"'`<>\\") || after == text_[end]) break;
    std::size_t name = end + 1;
    while (name < text_.size() && name - end < 40 && (is_word(text_[name]) || text_[name] == '-'))
      ++name;
    if (name > end + 1 && is_among(at_or_nul(text_, name), "=:")) break;
    ++end;
    for (int i = 0; i < static_cast<int>(most_value) && goes_on(end, '\0'); ++i) ++end;
  }
  return end;
}

bool SecretText::is_log(std::string_view before) {
  if (before.size() >= 2 && (is_digit(before[0]) || (before[0] == '[' && is_digit(before[1]))))
    return true;
  for (const std::string_view level : {"INFO", "WARN", "ERROR", "DEBUG", "FATAL", "CRITICAL"})
    if (before.starts_with(level)) return true;
  return false;
}

bool SecretText::is_code() {
  if (is_code_) return *is_code_;
  is_code_ = false;
  for (std::size_t begin = 0; begin < text_.size() && !*is_code_;) {
    const std::size_t end = std::min(text_.find('\n', begin), text_.size());
    is_code_ = is_code_line(text_.substr(begin, std::min(end - begin, most_line)));
    begin = end + 1;
  }
  return *is_code_;
}

}  // namespace schedmate::secrets
