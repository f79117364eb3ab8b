// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "tree/secret_spans.hpp"

namespace schedmate::tree {
namespace {

enum class Letters : unsigned char { alnum, word, url, upper, hex, path };

constexpr bool is_in(Letters letters, char c) {
  switch (letters) {
    case Letters::alnum:
      return is_digit(c) || is_letter(c);
    case Letters::word:
      return is_word(c);
    case Letters::url:
      return is_word(c) || c == '-';
    case Letters::upper:
      return is_digit(c) || (c >= 'A' && c <= 'Z');
    case Letters::hex:
      return is_digit(c) || (c >= 'a' && c <= 'f');
    case Letters::path:
      return is_word(c) || std::string_view("-/.:%+=~").find(c) != std::string_view::npos;
  }
  return false;
}

/// A key is `start` and at least `least` letters, among them a digit.
struct Form {
  std::string_view start;
  Letters letters;
  std::size_t least;
  bool keep_start = false;
};

constexpr std::array forms = {
    Form{"sk-", Letters::url, 20},
    Form{"sk_live_", Letters::alnum, 16},
    Form{"sk_test_", Letters::alnum, 16},
    Form{"rk_live_", Letters::alnum, 16},
    Form{"hf_", Letters::alnum, 30},
    Form{"api_org_", Letters::alnum, 30},
    Form{"ghp_", Letters::alnum, 30},
    Form{"gho_", Letters::alnum, 30},
    Form{"ghu_", Letters::alnum, 30},
    Form{"ghs_", Letters::alnum, 30},
    Form{"ghr_", Letters::alnum, 30},
    Form{"github_pat_", Letters::word, 40},
    Form{"glpat-", Letters::url, 20},
    Form{"AKIA", Letters::upper, 16},
    Form{"ASIA", Letters::upper, 16},
    Form{"AIza", Letters::url, 35},
    Form{"ya29.", Letters::url, 20},
    Form{"GOCSPX-", Letters::url, 20},
    Form{"xoxb-", Letters::url, 10},
    Form{"xoxa-", Letters::url, 10},
    Form{"xoxp-", Letters::url, 10},
    Form{"xoxr-", Letters::url, 10},
    Form{"xoxs-", Letters::url, 10},
    Form{"xapp-", Letters::url, 10},
    Form{"gsk_", Letters::alnum, 40},
    Form{"nvapi-", Letters::url, 40},
    Form{"r8_", Letters::alnum, 37},
    Form{"npm_", Letters::alnum, 36},
    Form{"pypi-", Letters::url, 60},
    Form{"dckr_pat_", Letters::url, 20},
    Form{"dapi", Letters::hex, 32},
    Form{"dop_v1_", Letters::hex, 64},
    Form{"hvs.", Letters::url, 24},
    Form{"wandb_v1_", Letters::word, 20},
    Form{"SG.", Letters::path, 40},
    Form{"AccountKey=", Letters::path, 40, true},
    Form{"SharedAccessKey=", Letters::path, 40, true},
    Form{"SharedAccessSignature=", Letters::path, 40, true},
    Form{"sig=", Letters::path, 20, true},
    Form{"X-Amz-Signature=", Letters::hex, 32, true},
    Form{"X-Amz-Security-Token=", Letters::path, 32, true},
    Form{"hooks.slack.com/services/", Letters::path, 20, true},
    Form{"discord.com/api/webhooks/", Letters::path, 20, true},
    Form{"discordapp.com/api/webhooks/", Letters::path, 20, true},
    Form{"api.telegram.org/bot", Letters::path, 20, true},
};

constexpr auto first_letters = [] {
  std::array<bool, 256> known{};
  for (const Form& form : forms) known[static_cast<unsigned char>(form.start.front())] = true;
  return known;
}();

std::size_t run_end(std::string_view text, std::size_t at, Letters letters) {
  while (at < text.size() && is_in(letters, text[at])) ++at;
  return at;
}

/// Three parts of base64 between dots, the first of them a JSON object ("eyJ" is "{\"").
class WebTokens {
 public:
  explicit WebTokens(std::string_view text) : text_(text) {}
  /// End of the token that starts at `at`, or `at`.
  std::size_t end(std::size_t at) {
    if (at < tried_until_ || !text_.substr(at).starts_with("eyJ")) return at;
    std::size_t end = at;
    for (int part = 0; part < 3; ++part) {
      if (part > 0 && (end >= text_.size() || text_[end] != '.')) return at;
      if (part > 0) ++end;
      const std::size_t start = end;
      end = run_end(text_, start, Letters::url);
      // What fails here fails for each later start in the same run: no second try.
      if (part == 0) tried_until_ = end;
      if (end - start < 8) return at;
    }
    return end;
  }

 private:
  std::string_view text_;
  std::size_t tried_until_ = 0;
};

constexpr std::size_t most_before_digit = 200;

/// Where a key of a known form stands; empty where none starts at `at`.
Span key_at(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  for (const Form& form : forms) {
    if (!rest.starts_with(form.start)) continue;
    const std::size_t start = at + form.start.size();
    const std::string_view looked_at = text.substr(0, start + most_before_digit);
    const std::size_t near_end = run_end(looked_at, start, form.letters);
    const std::string_view letters = text.substr(start, near_end - start);
    if (letters.size() < form.least || std::ranges::none_of(letters, is_digit)) continue;
    return {form.keep_start ? start : at, run_end(text, near_end, form.letters)};
  }
  return {at, at};
}

}  // namespace

void find_key_forms(std::string_view text, Spans& found) {
  WebTokens web_tokens(text);
  for (std::size_t at = 0; at < text.size();) {
    const auto letter = static_cast<unsigned char>(text[at]);
    if ((!first_letters[letter] && letter != 'e') || !starts_word(text, at)) {
      ++at;
      continue;
    }
    Span key = key_at(text, at);
    if (letter == 'e') key.end = std::max(key.end, web_tokens.end(at));
    if (key.end > at) found.push_back(key);
    at = std::max(key.end, at + 1);
  }
}

}  // namespace schedmate::tree
