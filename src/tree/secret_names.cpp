// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>

#include "tree/secret_spans.hpp"

namespace schedmate::tree {
namespace {

constexpr std::size_t nowhere = std::string_view::npos;
constexpr std::size_t most_name = 48;    ///< letters of a name that are looked at, its last ones
constexpr std::size_t most_value = 128;  ///< letters of a value that decide whether it is a secret

/// How much a name alone says: the value of a `secret` is one whatever it looks like, that of a
/// `token` when it looks like a key.
enum class SecretKind : unsigned char { none, token, login_token, secret };

SecretKind kind_of_name(std::string_view name) {
  constexpr std::array<std::string_view, 19> secrets = {
      "password",   "passwd",     "passphrase",    "secret",           "apikey",
      "secretkey",  "accesskey",  "privatekey",    "privatekeyid",     "authkey",
      "accountkey", "signingkey", "encryptionkey", "masterkey",        "wandbkey",
      "hfkey",      "openaikey",  "clientsecret",  "secretaccesskeyid"};
  constexpr std::array<std::string_view, 22> logins = {
      "accesstoken",   "authtoken",   "apitoken",    "hftoken",       "hubtoken",
      "githubtoken",   "ghtoken",     "gitlabtoken", "bearertoken",   "refreshtoken",
      "sessiontoken",  "wandbtoken",  "bottoken",    "slacktoken",    "usertoken",
      "privatetoken",  "deploytoken", "facetoken",   "securitytoken", "bearer",
      "authorization", "credential"};
  std::string plain;
  for (const char c : name.substr(name.size() - std::min(name.size(), most_name))) {
    if (c != '_' && c != '-') plain += lower(c);
  }
  const auto is_end = [&](std::string_view end) { return plain.ends_with(end); };
  if (std::ranges::any_of(secrets, is_end)) return SecretKind::secret;
  if (std::ranges::any_of(logins, is_end)) return SecretKind::login_token;
  return is_end("token") || plain == "auth" ? SecretKind::token : SecretKind::none;
}

constexpr bool is_name_letter(char c) { return is_word(c) || c == '-'; }
constexpr bool is_quote(char c) { return c == '"' || c == '\'' || c == '`'; }
constexpr auto ends_bare_value = [] {
  std::array<bool, 256> ends{};
  for (const char c : std::string_view(" \t\r\n,;)}]\"'`&|<>")) {
    ends[static_cast<unsigned char>(c)] = true;
  }
  return ends;
}();

struct Written {
  Span value;
  bool quoted = false;
  bool after_scheme = false;  ///< "Bearer VALUE"
  bool alone = false;         ///< name and value fill the line, as in YAML and INI
};

/// `os.environ["X"]`, `args.token`, `get(...)`: something that stands for the value.
bool is_expression(std::string_view value) {
  const std::size_t end = value.find_first_of("([");
  const std::string_view name = value.substr(0, end);
  const bool is_path = std::ranges::all_of(name, [](char c) { return is_word(c) || c == '.'; }) &&
                       std::ranges::none_of(name, is_digit) && !name.empty();
  return is_path && (end != nowhere || name.find('.') != nowhere);
}

bool is_common_word(std::string_view value) {
  constexpr std::array<std::string_view, 14> words = {
      "none", "null",  "true",     "false",    "str",   "string",  "bool",
      "int",  "bytes", "optional", "required", "store", "default", "secretstr"};
  std::string plain;
  for (const char c : value.substr(0, 16)) plain += lower(c);
  return std::ranges::find(words, plain) != words.end();
}

bool looks_like_key(std::string_view value, std::size_t least) {
  return value.size() >= least && std::ranges::any_of(value, is_digit) &&
         std::ranges::any_of(value, is_letter) && std::ranges::all_of(value, [](char c) {
           return is_word(c) || std::string_view("-./+=~:!@#$^&").find(c) != nowhere;
         });
}

bool is_secret(SecretKind kind, const Written& written, std::string_view value) {
  // What starts so stands for something else: ${X}, {x}, <x>, %(x)s, [redacted], ***.
  if (value.empty() || std::string_view("$<{%[*").find(value.front()) != nowhere) return false;
  if (is_common_word(value) || (!written.quoted && is_expression(value))) return false;
  if (written.after_scheme) return value.size() >= 8;
  switch (kind) {
    case SecretKind::secret:
      if (written.quoted) return true;
      return written.alone ? value.size() >= 4 : looks_like_key(value, 6);
    case SecretKind::login_token:
      return looks_like_key(value, 8);
    case SecretKind::token:
      return looks_like_key(value, 16);
    case SecretKind::none:
      break;
  }
  return false;
}

class NameFinder {
 public:
  NameFinder(std::string_view text, Spans& found) : text_(text), found_(found) {}

  void run() {
    for (std::size_t at = 0; at < text_.size();) {
      if (!is_name_letter(text_[at])) {
        ++at;
        continue;
      }
      std::size_t end = at;
      while (end < text_.size() && is_name_letter(text_[end])) ++end;
      at = std::max(end, after_name(at, end));
    }
  }

 private:
  /// Where to go on: after the value when it was a secret.
  std::size_t after_name(std::size_t begin, std::size_t end) {
    const SecretKind kind = kind_of_name(text_.substr(begin, end - begin));
    if (kind == SecretKind::none) return end;
    const std::size_t start = value_start(begin, end);
    if (start == nowhere) return end;
    const std::size_t bare = skip_scheme(start);
    Written written = value_at(bare);
    written.after_scheme = bare != start;
    // 'Password: ' is a prompt: the quote after it closes what the one before it opened.
    const char before = begin > 0 ? text_[begin - 1] : '\0';
    if (written.quoted && is_quote(before) && text_[written.value.begin - 1] == before &&
        text_[end] != before && text_[end] != '\\') {
      return end;
    }
    if (!written.quoted) written.alone = fills_line(begin, written.value.end);
    const std::size_t size = written.value.end - written.value.begin;
    if (!is_secret(kind, written, text_.substr(written.value.begin, size))) return end;
    // The whole of a long value, not only what was looked at.
    const char quote = written.quoted ? text_[written.value.begin - 1] : '\0';
    while (size >= most_value && goes_on(written.value.end, quote)) ++written.value.end;
    found_.push_back(written.value);
    return written.value.end;
  }

  /// After "=", ":", ":=", "=>", "=="; for a flag after spaces; for headers after their scheme.
  [[nodiscard]] std::size_t value_start(std::size_t begin, std::size_t end) const {
    std::size_t at = end;
    if (at < text_.size() && text_[at] == '\\') ++at;
    if (at < text_.size() && is_quote(text_[at])) ++at;
    if (at < text_.size() && text_[at] == ']') ++at;
    const std::size_t after_blanks = skip_blanks(at);
    std::size_t signs = after_blanks;
    while (signs < text_.size() && signs < after_blanks + 2 &&
           std::string_view("=:>").find(text_[signs]) != nowhere) {
      ++signs;
    }
    const bool is_bearer = end - begin == 6 && lower(text_[begin]) == 'b';
    const bool is_flag = text_.substr(begin, 2) == "--" || is_bearer || in_netrc(begin);
    if (signs == after_blanks && (!is_flag || after_blanks == at)) return nowhere;
    return skip_blanks(signs);
  }

  [[nodiscard]] std::size_t skip_blanks(std::size_t at) const {
    for (int i = 0; i < 32 && at < text_.size() && (text_[at] == ' ' || text_[at] == '\t'); ++i) {
      ++at;
    }
    return at;
  }

  /// "Bearer X" and "Basic X" are about X; so is f"Bearer X".
  [[nodiscard]] std::size_t skip_scheme(std::size_t at) const {
    std::size_t in = at;
    while (in < text_.size() && in < at + 3 && (is_quote(text_[in]) || text_[in] == '\\')) ++in;
    for (const std::string_view scheme :
         {"Bearer ", "bearer ", "Basic ", "basic ", "Token ", "token "}) {
      if (text_.substr(in).starts_with(scheme)) return skip_blanks(in + scheme.size());
    }
    return at;
  }

  [[nodiscard]] bool in_netrc(std::size_t begin) const {
    const std::size_t from = begin > 160 ? begin - 160 : 0;
    const std::string_view before = text_.substr(from, begin - from);
    const std::size_t login = before.rfind("login ");
    return login != nowhere && before.substr(0, login).find("machine ") != nowhere;
  }

  [[nodiscard]] bool goes_on(std::size_t at, char quote) const {
    if (at >= text_.size() || text_[at] == '\n') return false;
    if (quote != '\0') return text_[at] != quote;
    return !ends_bare_value[static_cast<unsigned char>(text_[at])];
  }

  [[nodiscard]] Written value_at(std::size_t start) const {
    Written written;
    std::size_t at = start;
    // A prefix of a Python string (f"", b"") and the '\' of a quote within a string.
    if (at + 1 < text_.size() && is_letter(text_[at]) && is_quote(text_[at + 1])) ++at;
    const bool escaped = at + 1 < text_.size() && text_[at] == '\\' && is_quote(text_[at + 1]);
    if (escaped) ++at;
    written.quoted = at < text_.size() && is_quote(text_[at]);
    const char quote = written.quoted ? text_[at++] : '\0';
    std::size_t end = at;
    while (end - at < most_value && goes_on(end, quote)) ++end;
    if (escaped && end > at && text_[end - 1] == '\\') --end;
    written.value = {at, end};
    return written;
  }

  [[nodiscard]] bool fills_line(std::size_t begin, std::size_t end) const {
    const std::size_t after = skip_blanks(end);
    const bool ends =
        after >= text_.size() || std::string_view("\r\n#").find(text_[after]) != nowhere;
    std::size_t at = begin;
    while (at > 0 && begin - at < 160 && text_[at - 1] != '\n') --at;
    std::string_view before = text_.substr(at, begin - at);
    while (!before.empty() && std::string_view(" \t-\"'").find(before.front()) != nowhere) {
      before.remove_prefix(1);
    }
    return ends && (before.empty() || before == "export " || before == "set ");
  }

  std::string_view text_;
  Spans& found_;
};

}  // namespace

void find_assigned_secrets(std::string_view text, Spans& found) { NameFinder(text, found).run(); }

}  // namespace schedmate::tree
