// SPDX-License-Identifier: Apache-2.0
#include "secrets/judge.hpp"

#include <ranges>

namespace schedmate::secrets {

bool SecretJudge::is_login(const Name& name, Joint joint) {
  const std::string_view word = joints_.word_of(name);
  if (word == "_auth") return joint == Joint::assigned && !read_.is_code();
  if (joint != Joint::flag && !is_tight(name)) return false;
  const std::size_t begin = line_begin(text_, name.begin, most_line);
  const std::string_view before = text_.substr(begin, name.begin - begin);
  if (word == "TOKEN" || before.contains("ookie: ")) return true;
  // --token, --ServerApp.token
  const std::size_t blank = before.find_last_of(" \t\"'");
  const std::string_view flag = blank == nowhere ? before : before.substr(blank + 1);
  return equal_words(word, "--token") ||
         (equal_words(word, "token") && flag.starts_with("--") && flag.ends_with('.'));
}

bool SecretJudge::is_secret(const Name& name, Joint joint, const Value& written) {
  const std::string_view value =
      text_.substr(written.span.begin, written.span.end - written.span.begin);
  if (value.contains("://") || value.starts_with("id=") || is_version(value)) return false;
  if (is_placeholder(value, written.quoted) || is_common_word(value)) return false;
  if (written.prefix == 'f' && value.starts_with('{')) return false;
  if (equal_words(value, "password") || is_variable_name(value) || is_same_word(name, value))
    return false;
  if (written.after_scheme) {
    const bool is_header = equal_words(joints_.word_of(name), "authorization") ||
                           equal_words(joints_.word_of(name), "proxy-authorization");
    return value.size() >= 8 && !is_prose_word(value) &&
           (written.quoted || !is_expression(value)) &&
           (is_header || value.size() >= 20 || looks_like_key(value, 8));
  }
  if (name.kind == SecretKind::token && written.quoted && value.size() >= 8 && logs_in(name))
    return !value.contains(' ');
  const bool of_query = name.begin > 0 && is_among(text_[name.begin - 1], "?&") && is_tight(name);
  if (name.kind == SecretKind::token && of_query && value.size() >= 8) return true;
  if (name.kind == SecretKind::token)
    return looks_like_key(value, 16) && (written.quoted || !is_expression(value));
  const bool is_whole = std::ranges::all_of(value, is_digit);
  const char after = at_or_nul(text_, written.span.end);
  if (!written.quoted && is_number(value) &&
      (!is_whole || name.kind == SecretKind::login || is_among(after, ",;")))
    return false;
  if (is_path(value) && name.kind == SecretKind::secret &&
      (is_file_name(name) || std::ranges::none_of(value, is_digit)))
    return false;
  return written.quoted ? is_quoted_secret(name, joint, value)
                        : is_bare_secret(name, joint, written);
}

/// `password=password`, "Password": "password".
bool SecretJudge::is_same_word(const Name& name, std::string_view value) const {
  const auto plain = [](std::string_view text) {
    return std::views::filter(text, [](char c) { return c != '_' && c != '-'; }) |
           std::views::transform(lower);
  };
  return std::ranges::equal(plain(joints_.word_of(name)), plain(value));
}

/// login(token='x'): what a tokenizer's token is never given to.
bool SecretJudge::logs_in(const Name& name) const {
  const std::size_t begin = line_begin(text_, name.begin, most_line);
  const std::string_view before = text_.substr(begin, name.begin - begin);
  for (const std::string_view call : {"login(", "Api(", "Client(", "to_hub(", "from_pretrained("})
    if (before.contains(call)) return true;
  return false;
}

/// A key may be a file, and PWD is a folder.
bool SecretJudge::is_file_name(const Name& name) const {
  return lower(text_[name.end - 1]) == 'y' || equal_words(joints_.word_of(name), "pwd");
}

bool SecretJudge::is_quoted_secret(const Name& name, Joint joint, std::string_view value) {
  if (is_label(value)) return false;
  const bool has_blank = value.contains(' ');
  if (name.kind == SecretKind::login && (has_blank || value.size() < 4)) return false;
  if (joint == Joint::argument) return !has_blank && !value.starts_with('-') && value.size() >= 4;
  if (joint == Joint::compared || joint == Joint::command) return value.size() >= 4 && !has_blank;
  return joint != Joint::flag || !value.starts_with("--");
}

bool SecretJudge::is_bare_secret(const Name& name, Joint joint, const Value& written) {
  const std::string_view value =
      text_.substr(written.span.begin, written.span.end - written.span.begin);
  if (value.size() < 4 || is_prose_word(value) || name.quoted)
    return looks_like_key(value, 8) && !is_identifier(value);
  const std::size_t sign = value.find_first_of("=:");
  const char next = sign == nowhere ? '=' : at_or_nul(value, sign + 1);
  if (next != '=' && kind_of_name(value.substr(0, sign)) != SecretKind::none)
    return false;  // a name of its own
  if (is_expression(value) || is_operator_after(written.span.end)) return false;
  if (joint == Joint::colon && phrases_.is_aside(name, written.span)) return true;
  switch (joint) {
    case Joint::flag:
      return !value.starts_with("--");
    case Joint::command:
      return looks_like_key(value, 8) || read_.follows_set(name.begin) || joints_.in_netrc(name) ||
             joints_.sets_by_name(name);
    case Joint::compared:
      return looks_like_key(value, 6) && !is_identifier(value);
    case Joint::argument:
      return false;
    default:
      break;
  }
  const char before = name.begin > 0 ? text_[name.begin - 1] : '\0';
  const char after = at_or_nul(text_, written.span.end);
  if (is_quote(before) && after == before) return true;  // 'X-Api-Key: VALUE'
  if (before == '<' && after == '<') return true;        // <password>VALUE</password>
  if (in_flow(name) && is_among(after, ",}") && !read_.is_code()) return true;
  // At the margin "password: x" is a line of a log or of YAML, whatever else the text holds.
  const bool at_margin =
      joint == Joint::colon && line_begin(text_, name.begin, most_line) == name.begin;
  if (!at_margin && is_identifier(value) && is_in_code(name, written)) return looks_random(value);
  if (joint == Joint::assigned && is_tight(name)) return true;
  return fills_line(name, written.span.end) || looks_like_key(value, 6);
}

/// A value with a digit amid its letters is no identifier that a person would choose.
bool SecretJudge::looks_random(std::string_view value) {
  return looks_like_key(value, 8) && !value.contains('_') && !is_digit(value.back()) &&
         std::ranges::count_if(value, is_digit) >= 2;
}

/// `NAME=x` without blanks, as shells and command lines have it.
bool SecretJudge::is_tight(const Name& name) const {
  return at_or_nul(text_, name.end) == '=' && !is_blank(at_or_nul(text_, name.end + 1));
}

bool SecretJudge::is_in_parens(const Name& name) const {
  int depth = 0;
  for (std::size_t i = line_begin(text_, name.begin, most_line); i < name.begin; ++i)
    depth += text_[i] == '(' ? 1 : text_[i] == ')' && depth > 0 ? -1 : 0;
  return depth > 0;
}

bool SecretJudge::in_braces(const Name& name) const {
  return name.begin > 0 && text_[name.begin - 1] == '{';
}

/// A name without quotes is an expression in code: between parentheses, or anywhere in a text
/// that is a program's. NAME=x of a shell is no code.
bool SecretJudge::is_in_code(const Name& name, const Value& written) {
  const std::string_view word = joints_.word_of(name);
  const bool is_variable =
      is_tight(name) && std::ranges::none_of(word, [](char c) { return c >= 'a' && c <= 'z'; });
  if (is_in_parens(name)) return is_among(at_or_nul(text_, written.span.end), ",) \n");
  if (is_variable || name.item || (name.declared && word == "value")) return false;
  // Code has blanks around '=', but for arguments on lines of their own.
  const std::size_t begin = line_begin(text_, name.begin, most_line);
  const bool begins = begin + read_.indent_at(begin) == name.begin;
  if (is_tight(name) && !begins) return false;
  const std::string_view before = text_.substr(begin, name.begin - begin);
  return read_.is_code(before) && !is_comment(before);
}

/// `password = a + b`, `x if y else z`.
bool SecretJudge::is_operator_after(std::size_t at) const {
  if (!is_blank(at_or_nul(text_, at))) return false;
  const std::string_view rest = text_.substr(read_.after_blanks(at), 4);
  for (const std::string_view word : {"+ ", "if ", "or ", "and ", "? ", "?? ", "|| ", "== ", "% "})
    if (rest.starts_with(word)) return true;
  return false;
}

/// The value ends its line, and the name begins it or is the last word of a message.
bool SecretJudge::fills_line(const Name& name, std::size_t end) {
  const std::size_t after = read_.after_blanks(end);
  if (after < text_.size() && !is_among(text_[after], "\r\n#;<")) return false;
  const std::size_t line = line_begin(text_, name.begin, most_line);
  std::string_view before = text_.substr(line, name.begin - line);
  while (!before.empty() && is_among(before.front(), " \t-\"'<#/*")) before.remove_prefix(1);
  if (before.empty() || before == "export " || before == "set ") return true;
  if (before.ends_with('.') && !before.contains(' ')) return true;
  return (before.ends_with(' ') || before.ends_with(':')) &&
         !read_.is_code(text_.substr(line, name.begin - line));
}

/// {user: x, password: VALUE} of YAML.
bool SecretJudge::in_flow(const Name& name) const {
  const std::size_t line = line_begin(text_, name.begin, most_line);
  const std::string_view before = text_.substr(line, name.begin - line);
  const std::size_t open = before.rfind('{');
  return open != nowhere && before.find_first_of("}(", open) == nowhere;
}

}  // namespace schedmate::secrets
