// SPDX-License-Identifier: Apache-2.0
#include "secrets/joints.hpp"

#include <algorithm>
#include <array>

namespace schedmate::secrets {

Joined SecretJoints::after(const Name& name) const {
  std::size_t at = read_.after_escape(name.end);
  if (name.begin > 0 && text_[name.begin - 1] == '<' && at_or_nul(text_, at) == '>')
    return {is_element(at + 1) ? Joint::colon : Joint::none, at + 1};
  const bool closes = is_quote(at_or_nul(text_, at));
  if (closes) ++at;
  if (at_or_nul(text_, at) == ']') ++at;
  const std::size_t sign = read_.after_blanks(at);
  if (const std::size_t cell = next_cell(name, sign); cell != nowhere) return {Joint::flag, cell};
  if (const std::size_t dots = text_.find_first_not_of('.', sign);
      dots != nowhere && dots > sign + 2)
    return {sign > at ? Joint::colon : Joint::none, dots};  // "password ....... VALUE"
  std::size_t end = sign;
  while (end < sign + 3 && is_among(at_or_nul(text_, end), "?|!+=:>-<")) ++end;
  const std::string_view signs = text_.substr(sign, end - sign);
  if (signs == "==" || signs == "===" || signs == "!=" || signs == "!==")
    return {Joint::compared, end};
  if (signs == ":" || signs == "::") return after_type({Joint::colon, end});
  if (signs == ":-") {  // ${NAME:-value}, or a list of YAML
    const bool in_braces = name.begin > 0 && text_[name.begin - 1] == '{';
    return {in_braces ? Joint::flag : Joint::none, end};
  }
  // The second sign is the value's own: "=-x", ":<x>".
  if (signs.size() >= 2 && is_among(signs[0], "=:") && is_among(signs[1], "-<!:|+?") &&
      signs != ":-=" && signs != "=>")
    return {signs[0] == '=' ? Joint::assigned : Joint::colon, sign + 1};
  if (signs.contains('=') || signs == "<-") return {Joint::assigned, end};
  if (sign == at) return argument_after(name, at);
  return {closes ? Joint::none : joint_by_blank(name), sign};
}

/// `user, password = "me", "x"`.
TupleValue SecretJoints::tuple_value(const Name& name) const {
  constexpr std::size_t most_tuple = 200;
  const std::string_view rest = text_.substr(name.end, most_tuple);
  if (name.quoted || !(rest.starts_with(',') || rest.starts_with(" = "))) return {};
  const std::size_t begin = line_begin(text_, name.begin, most_tuple);
  const std::size_t end = std::min(text_.size(), name.end + std::min(rest.find('\n'), rest.size()));
  const std::string_view line = text_.substr(0, end);
  const std::size_t sign = line.find(" = ", name.end);
  if (sign == nowhere) return {};
  const std::string_view names = text_.substr(begin, sign - begin);
  const auto in_names = [](char c) { return is_word(c) || is_among(c, "., \t"); };
  if (!names.contains(',') || !std::ranges::all_of(names, in_names)) return {};
  std::size_t value = sign + 3;
  for (auto skip = std::ranges::count(text_.substr(begin, name.begin - begin), ','); skip > 0;
       --skip) {
    const std::size_t comma = line.find(',', value);
    if (comma == nowhere) return {};
    value = read_.after_blanks(comma + 1);
  }
  return {value, end};
}

/// "| password | VALUE |": behind the mark of a table that stands on both sides of the name.
std::size_t SecretJoints::next_cell(const Name& name, std::size_t at) const {
  std::size_t begin = name.begin;
  while (begin > 0 && is_blank(text_[begin - 1])) --begin;
  for (const std::string_view mark : {"|", "\xe2\x94\x82", "\xe2\x94\x83"}) {
    if (begin == name.begin || begin < mark.size() || is_quote(text_[name.begin - 1])) continue;
    if (text_.substr(begin - mark.size(), mark.size()) != mark) continue;
    if (!text_.substr(at).starts_with(mark)) continue;
    const std::size_t value = read_.after_blanks(at + mark.size());
    const std::size_t end = std::min(text_.find('\n', value), text_.size());
    // The mark closes the cell, too: a | b | c of a program is no table.
    const std::size_t blank = text_.substr(0, end).find(' ', value);
    if (blank == nowhere || !text_.substr(read_.after_blanks(blank)).starts_with(mark)) continue;
    return value;
  }
  return nowhere;
}

/// <password>VALUE</password>
bool SecretJoints::is_element(std::size_t at) const {
  const std::string_view rest = text_.substr(at, most_value);
  const std::size_t end = rest.find_first_of("<\n");
  return end != nowhere && rest.substr(end).starts_with("</");
}

/// What joins a value that follows after blanks.
Joint SecretJoints::joint_by_blank(const Name& name) const {
  const std::string_view word = word_of(name);
  const bool is_short = word.starts_with('-') && word.size() > 5 && !is_upper(word[1]) &&
                        name.begin > 0 && is_blank(text_[name.begin - 1]);
  if (name.flag || is_short) return Joint::flag;
  if (equal_words(word, "bearer")) return Joint::command;
  if (in_netrc(name) || sets_by_name(name) || read_.follows_set(name.begin)) return Joint::command;
  // WITH PASSWORD 'x', IDENTIFIED BY PASSWORD 'x'.
  const std::size_t value = read_.after_blanks(name.end);
  return word == "PASSWORD" && at_or_nul(text_, value) == '\'' ? Joint::command : Joint::none;
}

bool SecretJoints::in_netrc(const Name& name) const {
  if (word_of(name) != "password") return false;
  const std::size_t from = name.begin > 160 ? name.begin - 160 : 0;
  const std::string_view before = text_.substr(from, name.begin - from);
  const std::size_t login = before.rfind("login ");
  return login != nowhere && before.substr(0, login).find("machine ") != nowhere;
}

/// `nmcli ... password X`: a program that is given names and values beside each other.
bool SecretJoints::sets_by_name(const Name& name) const {
  const std::size_t begin = line_begin(text_, name.begin, most_line);
  const std::string_view line = text_.substr(begin, name.begin - begin);
  const std::string_view own = line.substr(std::min(line.find_first_not_of(" \t$+"), line.size()));
  for (const std::string_view words : {"nmcli ", "dvc remote modify ", "rclone config "})
    if (own.starts_with(words)) return true;
  return false;
}

/// `setdefault("NAME", "x")`, `["--token", "x"]`: the next argument.
Joined SecretJoints::argument_after(const Name& name, std::size_t at) const {
  if (at_or_nul(text_, at) != ',') return {};
  if (is_symbol(name) && is_quote(at_or_nul(text_, read_.after_blanks(at + 1))))
    return {Joint::argument, at + 1};
  if (!name.quoted || text_[name.begin - 1] == '`') return {};
  std::size_t open = name.begin - 1;
  while (open > 0 && is_among(text_[open - 1], " \t\r\n")) --open;
  const char before = open > 0 ? text_[open - 1] : '\0';
  if (is_declaration(open)) return {};
  if (name.flag) return {is_among(before, ",[({") ? Joint::flag : Joint::none, at + 1};
  if (before == ',' && call_before(open - 1).contains("setattr(")) return {Joint::argument, at + 1};
  if (before != '(') return {};
  // Of a function that sets or looks up, else the "name" is a value like the others.
  constexpr auto parts = std::to_array<std::string_view>(
      {"set", "get", "put", "env", "add", "header", "default", "insert", "pop", "push", "config",
       "option", "field", "define"});
  std::string_view call = call_before(open - 1);
  const std::size_t begin = call.find_last_of(" \t\n(=,");
  if (begin != nowhere) call = call.substr(begin + 1);
  const auto same = [](char a, char b) { return lower(a) == b; };
  const bool sets = std::ranges::any_of(
      parts, [&](std::string_view part) { return !std::ranges::search(call, part, same).empty(); });
  return {sets ? Joint::argument : Joint::none, at + 1};
}

/// :smtp_password of Ruby.
bool SecretJoints::is_symbol(const Name& name) const {
  return name.begin >= 2 && text_[name.begin - 1] == ':' && is_among(text_[name.begin - 2], " (");
}

bool SecretJoints::is_declaration(std::size_t open) const {
  const std::string_view call = call_before(open);
  for (const std::string_view word : {"argument(", "option(", "Option(", "add_arg(", "flag("})
    if (call.ends_with(word)) return true;
  return false;
}

/// The last letters before a place: the name of a call and its '('.
std::string_view SecretJoints::call_before(std::size_t open) const {
  const std::size_t from = open > 40 ? open - 40 : 0;
  return text_.substr(from, open - from);
}

/// `password: str = "x"`: over the type.
Joined SecretJoints::after_type(Joined joined) const {
  std::size_t end = read_.after_blanks(joined.at);
  const std::size_t begin = end;
  while (end < text_.size() && end - begin < 60 &&
         (is_word(text_[end]) || is_among(text_[end], ".[], |*&<>:?'")))
    ++end;
  const bool is_type = end > begin && !is_digit(text_[begin]) && text_[begin] != '\'' &&
                       at_or_nul(text_, end) == '=' && at_or_nul(text_, end + 1) != '=';
  if (!is_type) return joined;
  // Two words beside each other are no type: "Digest username=".
  for (std::size_t i = begin + 1; i + 1 < end; ++i)
    if (is_blank(text_[i]) && is_word(text_[i - 1]) && is_word(text_[i + 1])) return joined;
  return {Joint::assigned, end + 1};
}

}  // namespace schedmate::secrets
