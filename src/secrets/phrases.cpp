// SPDX-License-Identifier: Apache-2.0
#include "secrets/phrases.hpp"

#include <array>

namespace schedmate::secrets {
namespace {

/// What follows "the password is" and is no password.
constexpr auto states = std::to_array<std::string_view>(
    {"wrong",  "correct", "incorrect", "valid",  "weak",     "strong",  "blank",     "short",
     "long",   "bad",     "good",      "public", "private",  "known",   "same",      "different",
     "unique", "secure",  "insecure",  "plain",  "optional", "present", "absent",    "mandatory",
     "kept",   "sent",    "lost",      "shown",  "given",    "found",   "read",      "written",
     "taken",  "held",    "built",     "stolen", "broken",   "chosen",  "forgotten", "bound",
     "there",  "too",     "ready",     "safe",   "unsafe",   "fine",    "easy",      "hard",
     "either", "builtin", "format",    "expire", "expires",  "always",  "never",     "still",
     "like",   "what",    "where",     "who",    "more",     "less",    "just",      "simple",
     "clear",  "used",    "needed",    "static", "random",   "visible", "available"});
/// What follows "with password".
constexpr auto subjects = std::to_array<std::string_view>(
    {"protection", "hash",   "hashing", "prompt", "prompts",  "login",   "reset",    "change",
     "policy",     "access", "mode",    "input",  "dialog",   "based",   "manager",  "encryption",
     "grant",      "flow",   "success", "failed", "failure",  "support", "fallback", "checks",
     "store",      "length", "data",    "name",   "username", "value",   "values",   "generator"});
/// What verbs and adjectives end in.
constexpr auto word_ends =
    std::to_array<std::string_view>({"ed", "ing", "able", "ible", "ous", "ly", "ory", "tion"});
/// Names that are words of sentences, too: "password protection" at the begin of a line.
constexpr auto plain_names = std::to_array<std::string_view>(
    {"password", "passwords", "passphrase", "secret", "secrets", "passcode", "pass", "mnemonic",
     "creds", "cred", "passwort", "authorization"});

bool is_word_of_prose(std::string_view value) {
  return is_listed(states, value) || is_listed(subjects, value) ||
         (std::ranges::all_of(value, is_letter) &&
          std::ranges::any_of(word_ends, [&](auto end) { return value.ends_with(end); }));
}

bool ends_value(char c) { return c == '\0' || is_quote(c) || is_among(c, " \t\r\n<>\\|"); }

}  // namespace

std::string_view SecretPhrases::line_before(const Name& name) const {
  const std::size_t begin = line_begin(text_, name.begin, most_line);
  return text_.substr(begin, name.begin - begin);
}

/// "with password X", "user ann password X".
bool SecretPhrases::is_given(const Name& name) const {
  std::string_view line = line_before(name);
  const auto take_word = [&] {
    while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
    const std::size_t blank = line.find_last_of(" \t");
    const std::string_view word = blank == nowhere ? line : line.substr(blank + 1);
    line.remove_suffix(word.size());
    return word;
  };
  const auto is_any = [](std::string_view word, std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(words, [&](auto one) { return equal_words(word, one); });
  };
  const bool is_joined = is_second_word(text_.substr(name.begin, name.end - name.begin));
  if (is_joined) take_word();  // "API key"
  const std::string_view last = take_word();
  if (last.empty()) return false;
  if (is_any(last, {"with", "using", "use"})) return true;
  if (name.kind != SecretKind::secret || is_joined) return false;
  return is_any(take_word(), {"user", "username", "login", "account"});
}

/// Over " for root@host", " is generated for root".
std::size_t SecretPhrases::after_owner(std::size_t at) const {
  for (const std::string_view word : {"is generated for ", "for ", "of "})
    if (text_.substr(at).starts_with(word)) {
      std::size_t end = at + word.size();
      while (end < text_.size() && end - at < 60 && !ends_value(text_[end]) && text_[end] != ':' &&
             text_[end] != '=')
        ++end;
      return end;
    }
  return at;
}

/// `requirepass X`, `secret.key   X`: the name begins the line and the value ends it.
bool SecretPhrases::is_column(const Name& name) {
  if (name.kind != SecretKind::secret) return false;
  std::string_view before = line_before(name);
  while (!before.empty() && (is_word(before.back()) || is_among(before.back(), ".-")))
    before.remove_suffix(1);
  const std::size_t at = read_.after_blanks(name.end);
  const bool is_wide = at > name.end + 1 || at_or_nul(text_, name.end) == '\t';
  const std::string_view word = text_.substr(name.begin, name.end - name.begin);
  return before.find_first_not_of(" \t") == nowhere &&
         (is_wide || !(is_listed(plain_names, word) || word.ends_with("passwd"))) &&
         (before.empty() || !read_.is_code());
}

SecretPhrases::Told SecretPhrases::told_by(const Name& name) {
  std::size_t at = read_.after_blanks(name.end);
  if (at == name.end || name.quoted || name.flag) return {};
  const std::size_t owner = after_owner(at);
  const bool is_owned = owner != at;
  at = read_.after_blanks(owner);
  if (is_owned && is_among(at_or_nul(text_, at), ":=") && is_blank(at_or_nul(text_, at + 1)))
    return {.at = read_.after_blanks(at + 1)};
  // "in 1 pass is" counts what is done.
  const bool counts = equal_words(text_.substr(name.begin, name.end - name.begin), "pass");
  for (const std::string_view verb : {"is now ", "is set to ", "set to ", "changed to ",
                                      "reset to ", "is: ", "was: ", "is ", "was "})
    if (!counts && text_.substr(at).starts_with(verb))
      return {.at = read_.after_blanks(at + verb.size()), .is_code = !verb.contains(':')};
  if (is_owned) return {};
  const bool is_cell = name.kind == SecretKind::secret && text_.substr(at).starts_with("| ");
  const std::string_view line = line_before(name);
  // "Config: password | X"
  const bool is_labelled = line.ends_with(": ") && line.find_first_of(" (,") + 1 == line.size();
  if (is_cell && (is_labelled || !read_.is_code(line)))
    return {.at = read_.after_blanks(at + 1), .is_code = false};
  if (is_given(name)) return {.at = at, .is_code = false, .given = true};
  if (is_column(name)) return {.at = at, .is_code = false};
  const bool is_quoted = name.kind == SecretKind::secret && name.end - name.begin > 4 &&
                         is_among(at_or_nul(text_, at), "\"'");
  return is_quoted && !read_.is_code() ? Told{.at = at, .fills = false} : Told{};
}

/// The line ends here, but for a dot or what closes a string.
bool SecretPhrases::ends_sentence(std::size_t at) {
  while (is_among(at_or_nul(text_, at), ".!?)")) ++at;
  if (is_quote(at_or_nul(text_, at))) return true;
  const std::size_t rest = read_.after_blanks(at);
  return rest >= text_.size() || is_among(text_[rest], "\r\n\\");
}

bool SecretPhrases::is_told(const Name& name, const Told& told, const Value& written) {
  const Span& span = written.span;
  const std::string_view value = text_.substr(span.begin, span.end - span.begin);
  if (value.size() < 4 || value.contains(' ') || value.contains("://") || value.starts_with('-'))
    return false;
  if (std::ranges::none_of(value, is_word)) return false;
  if (is_placeholder(value, written.quoted) || is_common_word(value) || is_prose_word(value) ||
      is_variable_name(value) || is_number(value.substr(0, value.find('/'))) || is_path(value) ||
      kind_of_name(value) != SecretKind::none)
    return false;
  if (name.kind == SecretKind::token) return looks_like_key(value, 16) && !is_expression(value);
  // "encryption key 'k'"
  const bool is_joined = is_second_word(text_.substr(name.begin, name.end - name.begin));
  if (written.quoted && is_joined && (told.given || !told.fills)) return looks_like_key(value, 8);
  if (written.quoted) return true;
  if (is_expression(value) || is_word_of_prose(value)) return false;
  if (looks_like_key(value, 6) && !is_identifier(value)) return true;
  if (told.given && looks_like_key(value, 8)) return true;
  const std::string_view before = line_before(name);
  const bool is_code = told.is_code && read_.is_code(before) &&
                       !is_quote(at_or_nul(text_, span.end)) && !is_comment(before);
  // "the use of login and\n passwd commands."
  const bool ends_prose = !told.given && at_or_nul(text_, name.end) == ' ' &&
                          at_or_nul(text_, span.end) == '.' && told.at == name.end + 1;
  return !is_code && !ends_prose && ends_sentence(span.end);
}

Span SecretPhrases::value_after(const Name& name) {
  const Told told = told_by(name);
  if (told.at == nowhere) return {};
  Value value = read_.value_at(told.at);
  if (!value.quoted) {
    std::size_t& end = value.span.end;
    end = value.span.begin;
    while (end < text_.size() && end - value.span.begin < most_value && !ends_value(text_[end]))
      ++end;
    while (end > value.span.begin && is_among(text_[end - 1], ".,;:!?)")) --end;
  }
  return is_told(name, told, value) ? value.span : Span{};
}

bool SecretPhrases::is_aside(const Name& name, const Span& value) {
  const std::string_view word = text_.substr(value.begin, value.end - value.begin);
  const std::string_view before = line_before(name);
  const std::size_t open = before.rfind('(');
  return open != nowhere && open > 0 && is_blank(before[open - 1]) &&
         at_or_nul(text_, value.end) == ')' && at_or_nul(text_, name.end + 1) != ':' &&
         kind_of_name(word) == SecretKind::none &&
         (before.ends_with("(using ") || !read_.is_code());
}

}  // namespace schedmate::secrets
