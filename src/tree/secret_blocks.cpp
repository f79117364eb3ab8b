// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tree/secret_spans.hpp"

namespace schedmate::tree {
namespace {

constexpr std::size_t none = std::string_view::npos;

/// What a private key is made of, also within a string of JSON or Python ("\n", quotes, commas).
constexpr bool is_key_letter(char c) {
  return is_word(c) || std::string_view("+/=\\\"', \t\r\n:-").find(c) != none;
}

/// Where the block that begins at `at` ends. A block without an end goes on as far as its letters.
std::size_t block_end(std::string_view text, std::size_t at) {
  constexpr std::string_view end_mark = "-----END ";
  while (at < text.size() && is_key_letter(text[at])) {
    if (text[at] == '-' && text.substr(at).starts_with(end_mark)) {
      const std::size_t line_end = std::min(text.find('\n', at), text.size());
      const std::size_t dashes = text.find("-----", at + end_mark.size());
      return dashes == none || dashes > line_end ? line_end : dashes + 5;
    }
    ++at;
  }
  return at;
}

/// A name that stands for a value: "${TOKEN}", "{token}", "<password>", "$TOKEN", "%s", "[...]".
constexpr bool is_placeholder(std::string_view value) {
  return value.empty() || std::string_view("$<{%[*").find(value.front()) != none;
}

/// "user:password" or a token before the '@' of a URL; from `start`, at most 300 letters.
Span url_secret(std::string_view text, std::size_t start) {
  const std::string_view near = text.substr(start, 300);
  const std::size_t host_end = std::min(near.find_first_of("/ \t\r\n\"'`<>?#,;()\\"), near.size());
  const std::size_t at = near.substr(0, host_end).rfind('@');
  if (at == none) return {};
  const std::string_view login = near.substr(0, at);
  const std::size_t colon = login.find(':');
  if (colon == none) {
    const bool is_key = login.size() >= 16 && std::ranges::any_of(login, is_digit);
    return is_key && !is_placeholder(login) ? Span{start, start + at} : Span{};
  }
  if (is_placeholder(login.substr(colon + 1))) return {};
  return {start + colon + 1, start + at};
}

bool has_word(std::string_view line, std::string_view word) {
  const auto same = [](char a, char b) { return lower(a) == b; };
  return std::ranges::search(line, word, same).begin() != line.end();
}

}  // namespace

void find_private_keys(std::string_view text, Spans& found) {
  constexpr std::string_view begin_mark = "-----BEGIN ";
  for (std::size_t at = text.find(begin_mark); at != none; at = text.find(begin_mark, at)) {
    const std::size_t start = at;
    at += begin_mark.size();
    const std::string_view kind = text.substr(at, 60);
    const std::size_t dashes = kind.find("-----");
    const std::string_view name = kind.substr(0, std::min(dashes, kind.size()));
    const bool is_private = name.ends_with("PRIVATE KEY") || name.ends_with("PRIVATE KEY BLOCK");
    if (dashes == none || !is_private) continue;
    const std::size_t body = at + dashes + 5;
    const std::size_t end = block_end(text, body);
    // The mark alone, as in a test `if "-----BEGIN PRIVATE KEY-----" in text`, is no key.
    const std::string_view letters = text.substr(body, end - body);
    if (std::ranges::count_if(letters, is_word) >= 32) found.push_back({start, end});
    at = std::max(body, end);
  }
}

void find_url_passwords(std::string_view text, Spans& found) {
  for (std::size_t at = text.find("://"); at != none; at = text.find("://", at)) {
    at += 3;
    const Span secret = url_secret(text, at);
    if (secret.end > secret.begin) found.push_back(secret);
  }
}

void find_wandb_keys(std::string_view text, Spans& found) {
  constexpr std::size_t digits = 40;
  const auto is_hex = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    // "wandb" and a word for a key before it; a commit of wandb's repository has no such word.
    const bool is_about_keys =
        has_word(line, "wandb") && (has_word(line, "key") || has_word(line, "login"));
    for (std::size_t in = 0; is_about_keys && in < line.size();) {
      std::size_t run = in;
      while (run < line.size() && is_hex(line[run])) ++run;
      const bool whole =
          (in == 0 || !is_word(line[in - 1])) && (run == line.size() || !is_word(line[run]));
      if (run - in == digits && whole) found.push_back({at + in, at + run});
      in = run + 1;
    }
    at = end + 1;
  }
}

}  // namespace schedmate::tree
