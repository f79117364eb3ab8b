// SPDX-License-Identifier: Apache-2.0
#include "secrets/words.hpp"

#include <array>
#include <cstdint>
#include <span>

#include "secrets/spans.hpp"

namespace schedmate::secrets {
namespace {

constexpr std::size_t most_name = 48;  ///< letters of a name that are looked at, its last ones

/// Ends of names without '_' and '-', in lower case.
constexpr auto secret_ends = std::to_array<std::string_view>({"password",
                                                              "passwd",
                                                              "passphrase",
                                                              "passwort",
                                                              "secret",
                                                              "apikey",
                                                              "secretkey",
                                                              "accesskey",
                                                              "privatekey",
                                                              "privatekeyid",
                                                              "authkey",
                                                              "accountkey",
                                                              "signingkey",
                                                              "encryptionkey",
                                                              "decryptionkey",
                                                              "encryptkey",
                                                              "masterkey",
                                                              "wandbkey",
                                                              "hfkey",
                                                              "openaikey",
                                                              "anthropickey",
                                                              "clientsecret",
                                                              "sharedkey",
                                                              "storagekey",
                                                              "servicekey",
                                                              "subscriptionkey",
                                                              "licensekey",
                                                              "deploykey",
                                                              "consumerkey",
                                                              "adminkey",
                                                              "hmackey",
                                                              "aeskey",
                                                              "jwtkey",
                                                              "sessionkey",
                                                              "webhookkey",
                                                              "functionkey",
                                                              "apppassword",
                                                              "apitokenkey",
                                                              "sshpass",
                                                              "userpass",
                                                              "storepass",
                                                              "keypass",
                                                              "mysqlpwd",
                                                              "mnemonic",
                                                              "seedphrase",
                                                              "passcode",
                                                              "secretaccesskeyid",
                                                              "rootpw",
                                                              "bindpw",
                                                              "requirepass",
                                                              "masterauth",
                                                              "presharedkey",
                                                              "wpapsk"});
constexpr auto login_ends = std::to_array<std::string_view>(
    {"accesstoken",   "authtoken",     "apitoken",        "hftoken",        "hubtoken",
     "githubtoken",   "ghtoken",       "gitlabtoken",     "gittoken",       "bearertoken",
     "refreshtoken",  "sessiontoken",  "wandbtoken",      "bottoken",       "slacktoken",
     "privatetoken",  "deploytoken",   "facetoken",       "securitytoken",  "oauthtoken",
     "jwttoken",      "servicetoken",  "npmtoken",        "pypitoken",      "dockertoken",
     "vaulttoken",    "kaggletoken",   "ngctoken",        "replicatetoken", "discordtoken",
     "telegramtoken", "admintoken",    "jobtoken",        "citoken",        "cloudtoken",
     "sastoken",      "personaltoken", "registrytoken",   "logintoken",     "csrftoken",
     "comettoken",    "neptunetoken",  "databrickstoken", "zenodotoken",    "clearmltoken",
     "mlflowtoken",   "authorization", "accesskeyid",     "publishtoken",   "huggingfacetoken"});
/// These are whole words: "compass" is none.
constexpr auto secret_words =
    std::to_array<std::string_view>({"pass", "pw", "pwd", "passwd", "creds", "cred"});
constexpr auto token_words =
    std::to_array<std::string_view>({"auth", "bearer", "jwt", "sessionid", "cookie", "session"});
/// What may follow: PASSWORD_PROD, API_KEY_V2, token_1.
constexpr auto qualifiers = std::to_array<std::string_view>(
    {"value", "prod", "production", "dev",   "test",   "staging", "read",   "write",   "old",
     "new",   "main", "admin",      "root",  "base64", "b64",     "live",   "default", "backup",
     "raw",   "ro",   "rw",         "plain", "v1",     "v2",      "string", "primary"});
constexpr auto common_words = std::to_array<std::string_view>(
    {"inherit", "none",      "null",     "nil",       "true",     "false",    "str",
     "string",  "bool",      "boolean",  "int",       "number",   "float",    "bytes",
     "any",     "optional",  "required", "store",     "default",  "text",     "varchar",
     "char",    "secretstr", "object",   "undefined", "void",     "self",     "empty",
     "missing", "unknown",   "unset",    "not",       "yes",      "no",       "on",
     "off",     "auto",      "type",     "value",     "return",   "redacted", "hidden",
     "masked",  "invalid",   "disabled", "enabled",   "function", "lambda",   "await"});
constexpr auto prose_words = std::to_array<std::string_view>({"provided",
                                                              "again",
                                                              "given",
                                                              "specified",
                                                              "expected",
                                                              "without",
                                                              "because",
                                                              "here",
                                                              "is",
                                                              "are",
                                                              "to",
                                                              "or",
                                                              "and",
                                                              "for",
                                                              "flag",
                                                              "option",
                                                              "options",
                                                              "argument",
                                                              "arguments",
                                                              "if",
                                                              "in",
                                                              "with",
                                                              "from",
                                                              "must",
                                                              "can",
                                                              "when",
                                                              "as",
                                                              "parameter",
                                                              "the",
                                                              "a",
                                                              "an",
                                                              "of",
                                                              "was",
                                                              "has",
                                                              "be",
                                                              "will",
                                                              "should",
                                                              "that",
                                                              "this",
                                                              "on",
                                                              "it",
                                                              "instead",
                                                              "which",
                                                              "may",
                                                              "by",
                                                              "at",
                                                              "not",
                                                              "you",
                                                              "your",
                                                              "via",
                                                              "only",
                                                              "also",
                                                              "but",
                                                              "then",
                                                              "so",
                                                              "into",
                                                              "before",
                                                              "after",
                                                              "are",
                                                              "have",
                                                              "authentication",
                                                              "auth",
                                                              "token",
                                                              "tokens",
                                                              "key",
                                                              "header",
                                                              "scheme",
                                                              "set",
                                                              "file",
                                                              "field"});

/// A name in lower case without its separators, and where its last word begins.
struct PlainName {
  std::array<char, most_name> letters{};
  std::size_t size = 0;
  std::size_t last_word = 0;
  [[nodiscard]] std::string_view text() const { return {letters.data(), size}; }
  [[nodiscard]] std::string_view word() const { return text().substr(last_word); }
};

PlainName plain_name(std::string_view name) {
  PlainName plain;
  bool starts = true;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (!is_word(c) || c == '_') {
      starts = true;
      continue;
    }
    if (starts || (is_upper(c) && i > 0 && !is_upper(name[i - 1]))) plain.last_word = plain.size;
    starts = false;
    plain.letters[plain.size++] = lower(c);
  }
  return plain;
}

SecretKind kind_of_plain(const PlainName& name) {
  const std::string_view text = name.text();
  if (text.contains("hash")) return SecretKind::none;
  const auto is_end = [&](std::string_view end) { return text.ends_with(end); };
  if (std::ranges::any_of(secret_ends, is_end)) return SecretKind::secret;
  if (is_listed(secret_words, name.word())) return SecretKind::secret;
  if (std::ranges::any_of(login_ends, is_end)) return SecretKind::login;
  if (text.ends_with("token") || text.ends_with("credential") || is_listed(token_words, text))
    return SecretKind::token;
  return SecretKind::none;
}

/// Behind the last '_', '-' or small letter that a capital follows.
std::string_view last_word(std::string_view name) {
  std::size_t begin = name.size();
  while (begin > 0 && is_word(name[begin - 1]) && name[begin - 1] != '_') {
    --begin;
    if (is_upper(name[begin]) && begin > 0 && !is_upper(name[begin - 1])) break;
  }
  return name.substr(begin);
}

constexpr std::uint32_t letters_of(std::string_view word) {
  std::uint32_t letters = 0;
  for (const char c : word)
    if (is_letter(c)) letters |= 1U << static_cast<unsigned>(lower(c) - 'a');
  return letters;
}

/// Has it all letters of one of the words that names of secrets consist of? Most names have not.
bool may_be_secret(std::string_view name) {
  constexpr auto roots = [] {
    std::array<std::uint32_t, 12> letters{};
    std::size_t i = 0;
    for (const std::string_view word : {"pas", "secrt", "token", "key", "pw", "cred", "auth",
                                        "bear", "jwt", "coki", "sion", "menoic"})
      letters[i++] = letters_of(word);
    return letters;
  }();
  const std::uint32_t letters = letters_of(name);
  return std::ranges::any_of(roots, [=](std::uint32_t root) { return (letters & root) == root; });
}

/// The last three letters of a name as a number; those of the words above.
constexpr std::size_t ending_of(std::string_view name) {
  std::size_t ending = 0;
  for (const char c : name.substr(name.size() - std::min<std::size_t>(name.size(), 3)))
    ending = ending * 32 + (is_letter(c) ? static_cast<std::size_t>(lower(c) - 'a' + 1) : 0);
  return ending;
}
constexpr auto known_endings = [] {
  std::array<bool, 32768> known{};
  for (const std::string_view end : secret_ends) known[ending_of(end)] = true;
  for (const std::string_view end : login_ends) known[ending_of(end)] = true;
  for (const std::string_view end : token_words) known[ending_of(end)] = true;
  for (const std::string_view end : {"token", "credential"}) known[ending_of(end)] = true;
  return known;
}();

bool may_end_secret(std::string_view name) {
  if (name.size() < 2) return false;
  const char last = lower(name.back());
  // "pw" and its like are whole words; "key_id" has its end after a '_'.
  return known_endings[ending_of(name)] || last == 'w' ||
         is_listed(secret_words, last_word(name)) ||
         (last == 'd' && lower(name[name.size() - 2]) == 'i');
}

/// Without digits and qualifiers at the end, and without the 's' of "passwords".
std::string_view without_qualifiers(std::string_view name) {
  const auto drop = [&](auto&& is_dropped) {
    while (!name.empty() && is_dropped(name.back())) name.remove_suffix(1);
  };
  drop([](char c) { return is_digit(c) || c == '_' || c == '-'; });
  for (int i = 0; i < 2; ++i) {
    const std::size_t part = name.find_last_of("_-");
    if (part == nowhere || part == 0 || !is_listed(qualifiers, name.substr(part + 1))) break;
    name = name.substr(0, part);
    drop([](char c) { return is_digit(c) || c == '_' || c == '-'; });
  }
  if (name.size() > 5 && lower(name.back()) == 's' && lower(name[name.size() - 2]) != 's')
    name.remove_suffix(1);
  return name;
}

}  // namespace

bool is_listed(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::any_of(words, [&](std::string_view one) { return equal_words(word, one); });
}

SecretKind kind_of_name(std::string_view name) {
  if (name.size() > most_name) name = name.substr(name.size() - most_name);
  // "password_for_db"
  if (const std::size_t owner = name.find("_for_"); owner != nowhere) name = name.substr(0, owner);
  if (!may_be_secret(name) || name == "PWD" || name == "OLDPWD") return SecretKind::none;
  if (may_end_secret(name)) {
    const SecretKind kind = kind_of_plain(plain_name(name));
    if (kind != SecretKind::none) return kind;
  }
  const std::string_view rest = without_qualifiers(name);
  if (rest.size() == name.size() || !may_end_secret(rest)) return SecretKind::none;
  const SecretKind kind = kind_of_plain(plain_name(rest));
  // "tokens" are those of a tokenizer.
  return kind == SecretKind::token ? SecretKind::none : kind;
}

bool is_second_word(std::string_view word) {
  return equal_words(word, "key") || equal_words(word, "token") || equal_words(word, "id");
}

SecretKind kind_of_words(std::string_view first, std::string_view second) {
  if (!is_second_word(second) || first.size() + second.size() > most_name) return SecretKind::none;
  std::array<char, most_name> both{};
  const auto end = std::ranges::copy(first, both.begin()).out;
  std::ranges::copy(second, end);
  return kind_of_name({both.data(), first.size() + second.size()});
}

bool is_placeholder(std::string_view value, bool quoted) {
  if (value.empty()) return true;
  const char first = value.front();
  const std::string_view rest = value.substr(1);
  const auto is_all = [&](std::string_view letters) {
    return value.find_first_not_of(letters) == nowhere;
  };
  if ((value.size() < 100 && is_all("*.-_xX#?")) || value.starts_with("\xe2\x80\xa6")) return true;
  if (value.contains("[redacted") || value.contains("{{") || value.contains("...") ||
      value.contains("***") || (value.size() < 100 && value.contains("xxxxx")))
    return true;
  if (equal_words(value.substr(0, 4), "your") && value.find_first_of("-_ ") != nowhere) return true;
  switch (first) {
    case '$':
      return rest.empty() || is_among(rest.front(), "{($@?") || is_identifier(rest) ||
             is_identifier(rest.substr(0, rest.find_first_of("/.:")));
    case '<':
      return !quoted || value.back() == '>';
    case '{':
      return !quoted || value.contains('}');
    case '[':
      return !quoted || value.contains(']');
    case '%':
      return rest.size() < 2 || is_among(rest.front(), "(sdr") || value.back() == '%';
    case '*':
    case '&':
    case '!':
    case '@':
      return !quoted && (rest.empty() || is_identifier(rest) || is_among(rest.front(), "/.~"));
    case '(':
    case '\\':
      return !quoted;
    default:
      return false;
  }
}

bool is_common_word(std::string_view value) {
  while (!value.empty() && is_among(value.back(), ".;:!?)]},")) value.remove_suffix(1);
  return is_listed(common_words, value);
}

bool is_prose_word(std::string_view value) {
  while (!value.empty() && is_among(value.back(), ".:!?")) value.remove_suffix(1);
  return is_listed(prose_words, value);
}

bool is_variable_name(std::string_view value) {
  while (value.ends_with('\\')) value.remove_suffix(1);
  const bool is_capital = std::ranges::all_of(
      value, [](char c) { return is_upper(c) || is_digit(c) || c == '_' || c == '-'; });
  if (!is_capital || value.empty() || is_digit(value.front())) return false;
  return kind_of_name(value) != SecretKind::none ||
         (value.find_first_of("_-") != nowhere && std::ranges::none_of(value, is_digit));
}

bool is_label(std::string_view value) {
  if (value.find(' ') == nowhere) return false;
  std::size_t words = 0;
  bool has_prose = false;
  for (std::size_t at = 0; at < value.size() && at < 200;) {
    std::size_t end = at;
    while (end < value.size() && is_word(value[end])) ++end;
    const std::string_view word = value.substr(at, end - at);
    if (!word.empty()) ++words;
    has_prose = has_prose || (!word.empty() && is_prose_word(word)) ||
                kind_of_name(word) != SecretKind::none;
    at = end + 1;
  }
  return has_prose && words > 1;
}

bool is_identifier(std::string_view value) {
  return !value.empty() && !is_digit(value.front()) && std::ranges::all_of(value, is_word);
}

bool is_expression(std::string_view value) {
  while (!value.empty() && is_among(value.front(), "*&")) value.remove_prefix(1);
  const std::size_t end = value.find_first_of("([{");
  const std::string_view name = value.substr(0, end);
  if (name.empty() || is_digit(name.front())) return false;
  if (name.starts_with("self.") || name.starts_with("this.")) return true;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool is_arrow =
        name.substr(i).starts_with("->") || (i > 0 && name.substr(i - 1).starts_with("->"));
    if (!is_word(name[i]) && name[i] != '.' && name[i] != ':' && !is_arrow) return false;
  }
  if (end != nowhere) return true;
  // `config2.password` may hold a digit, a value with dots and digits is none.
  const std::size_t dot = name.rfind('.');
  return dot != nowhere && dot > 0 && is_identifier(name.substr(dot + 1)) &&
         std::ranges::none_of(name.substr(dot), is_digit) && !name.contains("..") &&
         std::ranges::count_if(name, is_digit) <= 2;
}

bool is_number(std::string_view value) {
  if (value.starts_with('-') || value.starts_with('+')) value.remove_prefix(1);
  if (value.starts_with("0x") && value.size() <= 18)
    return std::ranges::all_of(value.substr(2), [](char c) {
      return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f');
    });
  const std::size_t rest = value.find_first_not_of("0123456789._");
  return !value.empty() && is_digit(value.front()) &&
         (rest == nowhere || (value.contains('.') && is_among(value[rest], "eE") &&
                              value.find_first_not_of("0123456789+-", rest + 1) == nowhere));
}

bool is_version(std::string_view value) {
  return value.size() > 1 && is_among(value.front(), "^~") && is_number(value.substr(1));
}

bool is_comment(std::string_view line) {
  const std::size_t mark = line.find_first_not_of(" \t");
  return mark != nowhere && (line[mark] == '#' || line.substr(mark).starts_with("//"));
}

bool looks_like_key(std::string_view value, std::size_t least) {
  return value.size() >= least && std::ranges::any_of(value, is_digit) &&
         std::ranges::any_of(value, is_letter) && std::ranges::all_of(value, [](char c) {
           return is_word(c) || is_among(c, "-./+=~:!@#$^&%*?|");
         });
}

bool is_path(std::string_view value) {
  const bool starts = value.starts_with('/') || value.starts_with("~/") ||
                      value.starts_with("./") || value.starts_with("../");
  if (!starts || value.find_first_of("+=") != nowhere) return false;
  std::size_t piece = 0;
  for (const char c : value) {
    piece = c == '/' ? 0 : piece + 1;
    if (piece > 24 || (!is_word(c) && !is_among(c, "/.-~${}"))) return false;
  }
  return value.find('/', 1) != nowhere || value.contains('.') ||
         std::ranges::none_of(value, is_digit);
}

}  // namespace schedmate::secrets
