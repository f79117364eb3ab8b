// SPDX-License-Identifier: Apache-2.0
#include "secrets/spans.hpp"
#include "secrets/words.hpp"

namespace schedmate::secrets {
namespace {

constexpr std::size_t most_key_block = std::size_t{1} << 15U;  ///< a key of 16,384 bits has 13 kB

/// What a private key is made of, also within a string of JSON or Python ("\n", quotes, commas).
constexpr bool is_key_letter(char c) { return is_word(c) || is_among(c, "+/=\\\"', \t\r\n:-"); }
constexpr bool is_base64(char c) { return is_digit(c) || is_letter(c) || c == '+' || c == '/'; }

/// A line of a key somewhere in it, so that code which only names both marks is none.
bool holds_key_line(std::string_view block) {
  std::size_t run = 0;
  for (const char c : block) {
    run = is_base64(c) ? run + 1 : 0;
    if (run == 40) return true;
  }
  return false;
}

/// Ends of private keys, each looked for once.
class KeyEnds {
 public:
  explicit KeyEnds(std::string_view text) : text_(text) {}
  /// Behind the end mark after `at`, or nowhere.
  std::size_t after(std::size_t at) {
    constexpr std::string_view mark = "-----END ";
    if (next_ != nowhere && next_ < at) next_ = text_.find(mark, at);
    if (next_ == nowhere || next_ - at > most_key_block) return nowhere;
    const std::size_t line_end = std::min(text_.find('\n', next_), text_.size());
    const std::size_t dashes = text_.find("-----", next_ + mark.size());
    return dashes == nowhere || dashes > line_end ? line_end : dashes + 5;
  }

 private:
  std::string_view text_;
  std::size_t next_ = 0;
};

constexpr bool is_host_letter(char c) {
  return is_digit(c) || is_letter(c) || c == '.' || c == '-' || c == '_';
}

/// "host.org", "host:5432", "[::1]": what may follow the '@' of a URL.
bool is_host(std::string_view text) {
  if (text.starts_with('[') || text.starts_with('{') || text.starts_with('$') ||
      text.starts_with('<') || text.starts_with('%') || text.starts_with('('))
    return true;
  std::size_t end = 0;
  while (end < text.size() && is_host_letter(text[end])) ++end;
  return end > 0 && (end == text.size() || is_among(text[end], "/:?#,"));
}

/// "user:password" or a token before the '@' of a URL; from `start`, at most 300 letters.
Span url_secret(std::string_view text, std::size_t start) {
  std::string_view near = text.substr(start, 300);
  near = near.substr(0, near.find_first_of(" \t\r\n\"'`<>\\"));
  const std::size_t slash = near.find_first_of("/?#");
  const std::size_t colon = near.find(':');
  // A '/' may be part of a password, never of a user. A port is no password.
  const bool has_user = colon != nowhere && (slash == nowhere || colon < slash);
  if (has_user && slash != nowhere && slash > colon + 1 &&
      std::ranges::all_of(near.substr(colon + 1, slash - colon - 1), is_digit))
    return {};
  std::size_t at = near.find('@');
  while (at != nowhere && !is_host(near.substr(at + 1))) at = near.find('@', at + 1);
  if (at == nowhere || (!has_user && slash != nowhere && slash < at)) return {};
  const std::string_view login = near.substr(0, at);
  if (!has_user || colon > at) {
    // A user's name has no letters of both cases beside digits.
    const bool is_mixed = std::ranges::any_of(login, is_upper) &&
                          std::ranges::any_of(login, [](char c) { return c >= 'a' && c <= 'z'; });
    const bool is_key = login.size() >= 30 || (login.size() >= (is_mixed ? 12U : 16U) &&
                                               std::ranges::any_of(login, is_digit));
    return is_key && !is_placeholder(login, false) ? Span{start, start + at} : Span{};
  }
  const std::string_view password = login.substr(colon + 1);
  if (is_placeholder(password, false) || password.find_first_of("(),;") == 0) return {};
  return {start + colon + 1, start + at};
}

bool has_text(std::string_view line, std::string_view word) {
  const auto same = [](char a, char b) { return lower(a) == b; };
  return std::ranges::search(line, word, same).begin() != line.end();
}

std::size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(" \t"), line.size());
}

/// The values of `data:` and `stringData:` of one document of YAML.
class SecretValues {
 public:
  explicit SecretValues(Spans& found) : found_(found) {}
  void add(std::string_view line, std::size_t begin) {
    const std::size_t indent = indent_of(line);
    const std::string_view rest = line.substr(indent);
    if (rest.empty() || rest.starts_with("{{") || rest.starts_with('#')) return;
    if (in_data_ && indent > data_indent_) return add_value(line, begin);
    in_data_ = rest.starts_with("data:") || rest.starts_with("stringData:");
    data_indent_ = indent;
    value_indent_ = nowhere;
  }

 private:
  void add_value(std::string_view line, std::size_t begin) {
    const std::size_t indent = indent_of(line);
    const std::size_t colon = line.find(':');
    std::size_t from = indent;
    if (value_indent_ == nowhere || indent <= value_indent_) {
      if (colon == nowhere) return;
      value_indent_ = indent;
      from = colon + 1;
    }
    while (from < line.size() && (is_blank(line[from]) || is_quote(line[from]))) ++from;
    std::size_t to = line.size();
    while (to > from && (is_blank(line[to - 1]) || is_quote(line[to - 1]) || line[to - 1] == '\r'))
      --to;
    const std::string_view value = line.substr(from, to - from);
    const bool is_mark = value.size() <= 2 && is_among(at_or_nul(value, 0), "|>");
    if (value.size() >= 2 && !is_mark && !is_placeholder(value, false) && value != "null")
      found_.push_back({begin + from, begin + to});
  }

  Spans& found_;
  bool in_data_ = false;
  std::size_t data_indent_ = 0;
  std::size_t value_indent_ = nowhere;
};

/// From the last "---" before `at`, some kilobytes back.
std::size_t document_begin(std::string_view text, std::size_t at) {
  const std::size_t floor = at > most_key_block ? at - most_key_block : 0;
  const std::size_t mark = text.substr(floor, at - floor).rfind("\n---");
  return mark == nowhere ? line_begin(text, floor, 0) : floor + mark + 1;
}

}  // namespace

void find_private_keys(std::string_view text, Spans& found) {
  constexpr std::string_view begin_mark = "-----BEGIN ";
  KeyEnds ends(text);
  for (std::size_t at = find_text(text, begin_mark, 0); at != nowhere;
       at = find_text(text, begin_mark, at)) {
    const std::size_t start = at;
    at += begin_mark.size();
    const std::string_view kind = text.substr(at, 60);
    const std::size_t dashes = kind.find("-----");
    const std::string_view name = kind.substr(0, std::min(dashes, kind.size()));
    const bool is_private = name.ends_with("PRIVATE KEY") || name.ends_with("PRIVATE KEY BLOCK");
    if (dashes == nowhere || !is_private) continue;
    const std::size_t body = at + dashes + 5;
    std::size_t end = ends.after(body);
    bool is_key = end != nowhere && holds_key_line(text.substr(body, end - body));
    if (!is_key) {
      // A block without an end goes on as far as its letters. The mark alone, as in a test
      // `if "-----BEGIN PRIVATE KEY-----" in text`, is no key.
      end = body;
      while (end < text.size() && is_key_letter(text[end])) ++end;
      is_key = holds_key_line(text.substr(body, end - body));
    }
    if (is_key) found.push_back({start, end});
    at = end;
  }
}

/// "/t/TOKEN/" in the path of a URL, as channels of conda have it. Topics of forums are words.
Span url_token(std::string_view text, std::size_t start) {
  std::string_view near = text.substr(start, 300);
  near = near.substr(0, near.find_first_of(" \t\r\n\"'`<>\\"));
  const std::size_t mark = near.find('/');
  if (mark == nowhere || !near.substr(mark).starts_with("/t/")) return {};
  const std::string_view rest = near.substr(mark + 3);
  const std::string_view token = rest.substr(0, rest.find('/'));
  std::size_t run = 0, longest = 0, digits = 0;
  for (const char c : token) {
    run = is_digit(c) || is_letter(c) ? run + 1 : 0;
    longest = std::max(longest, run);
    digits += is_digit(c) ? 1U : 0U;
  }
  return longest >= 12 && digits >= 3 ? Span{start + mark + 3, start + mark + 3 + token.size()}
                                      : Span{};
}

void find_url_passwords(std::string_view text, Spans& found) {
  for (std::size_t at = find_text(text, "://", 0); at != nowhere; at = find_text(text, "://", at)) {
    at += 3;
    // The user of a secure shell is no secret.
    if (text.substr(0, at - 3).ends_with("ssh") || text.substr(0, at - 3).ends_with("sftp"))
      continue;
    const Span secret = url_secret(text, at);
    if (secret.end > secret.begin) found.push_back(secret);
    const Span token = url_token(text, at);
    if (token.end > token.begin) found.push_back(token);
  }
}

/// "host:5432:database:user:password" as .pgpass has it. The ports of servers have four or five
/// digits, so that "file.py:12:1:name:text" is none.
void find_pgpass(std::string_view text, Spans& found) {
  constexpr std::size_t most_field = 64;
  const auto field_end = [&](std::size_t at, auto&& is_of) {
    const std::size_t most = std::min(text.size(), at + most_field);
    while (at < most && is_of(text[at])) ++at;
    return at;
  };
  const auto in_name = [](char c) { return is_host_letter(c) || c == '*'; };
  for (std::size_t colon = text.find(':'); colon != nowhere; colon = text.find(':', colon + 1)) {
    std::size_t at = field_end(colon + 1, [](char c) { return is_digit(c) || c == '*'; });
    const bool is_port = at == colon + 2 ? text[at - 1] == '*' : at >= colon + 5 && at <= colon + 6;
    if (!is_port || at_or_nul(text, at) != ':') continue;
    std::size_t host = colon;
    while (host > 0 && colon - host < most_field && in_name(text[host - 1])) --host;
    bool is_line = host < colon &&
                   (host == 0 || is_quote(text[host - 1]) || is_among(text[host - 1], " \t\n"));
    for (int field = 0; field < 2; ++field) {
      const std::size_t end = field_end(at + 1, in_name);
      is_line = is_line && (is_letter(at_or_nul(text, at + 1)) || at_or_nul(text, at + 1) == '*') &&
                at_or_nul(text, end) == ':';
      at = end;
    }
    const std::size_t value = at + 1;
    const std::size_t end =
        is_line ? field_end(value, [](char c) { return !is_among(c, " \t\r\n\"':"); }) : value;
    const bool ends = end >= text.size() || is_among(text[end], "\r\n\"'");
    if (is_line && ends && end > value + 3 &&
        !is_placeholder(text.substr(value, end - value), false))
      found.push_back({value, end});
  }
}

void find_wandb_keys(std::string_view text, Spans& found) {
  constexpr std::size_t digits = 40;
  constexpr std::size_t most_line = 1000;
  const auto is_hex = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); };
  std::size_t done = 0;
  for (const std::string_view name : {"wandb", "WANDB"}) {
    for (std::size_t at = find_text(text, name, 0); at != nowhere;
         at = find_text(text, name, std::max(done, at + 1))) {
      const std::size_t begin = line_begin(text, at, most_line);
      const std::size_t end = std::min({text.find('\n', at), text.size(), at + most_line});
      const std::string_view line = text.substr(begin, end - begin);
      done = end;
      // A commit of wandb's repository has no such word.
      if (!has_text(line, "key") && !has_text(line, "login")) continue;
      for (std::size_t in = 0; in < line.size();) {
        std::size_t run = in;
        while (run < line.size() && is_hex(line[run])) ++run;
        const bool whole =
            (in == 0 || !is_word(line[in - 1])) && (run == line.size() || !is_word(line[run]));
        if (run - in == digits && whole) found.push_back({begin + in, begin + run});
        in = run + 1;
      }
    }
    done = 0;
  }
}

void find_kubernetes_secrets(std::string_view text, Spans& found) {
  constexpr std::string_view mark = "kind: Secret";
  std::size_t done = 0;
  for (std::size_t at = find_text(text, mark, 0); at != nowhere; at = find_text(text, mark, at)) {
    const std::size_t begin = std::max(done, document_begin(text, at));
    at += mark.size();
    if (is_word(at_or_nul(text, at))) continue;
    const std::string_view near = text.substr(0, at + most_key_block);
    const std::size_t end = std::min(near.find("\n---", at), near.size());
    SecretValues values(found);
    for (std::size_t line = begin; line < end;) {
      const std::size_t stop = std::min(text.find('\n', line), end);
      values.add(text.substr(line, stop - line), line);
      line = stop + 1;
    }
    at = done = std::max(at, end);
  }
}

}  // namespace schedmate::secrets
