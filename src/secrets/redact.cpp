// SPDX-License-Identifier: Apache-2.0
#include "secrets/redact.hpp"

#include "secrets/spans.hpp"
#include "secrets/values.hpp"

namespace schedmate::secrets {
namespace {

constexpr std::size_t most_values = 10'000;

Spans secrets_of(std::string_view text) {
  Spans found;
  find_private_keys(text, found);
  find_shapes(text, found);
  find_url_passwords(text, found);
  find_pgpass(text, found);
  find_named_secrets(text, found);
  find_command_secrets(text, found);
  find_wandb_keys(text, found);
  find_kubernetes_secrets(text, found);
  return found;
}

/// The values of some places, a block line by line.
void add_values(std::string_view text, const Spans& spans, std::vector<std::string_view>& values) {
  for (const Span& span : spans) {
    for (std::size_t begin = span.begin; begin < span.end;) {
      std::size_t end = std::min(text.find('\n', begin), span.end);
      const std::size_t next = end + 1;
      while (begin < end && is_among(text[begin], " \t\r")) ++begin;
      while (end > begin && is_among(text[end - 1], " \t\r")) --end;
      const std::string_view value = text.substr(begin, end - begin);
      if (is_telling(value) && !value.starts_with("-----")) values.push_back(value);
      begin = next;
    }
  }
}

void sort_once(std::vector<std::string_view>& values) {
  std::ranges::sort(values);
  const auto again = std::ranges::unique(values);
  values.erase(again.begin(), again.end());
}

std::string masked(std::string_view text, Spans& found) {
  std::ranges::sort(found, {}, &Span::begin);
  std::string out;
  out.reserve(text.size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < found.size();) {
    Span span = found[i++];
    while (i < found.size() && found[i].begin <= span.end) {
      span.end = std::max(span.end, found[i++].end);
    }
    const std::string_view secret = text.substr(span.begin, span.end - span.begin);
    out += text.substr(at, span.begin - at);
    out += redaction_mark;
    out.append(static_cast<std::size_t>(std::ranges::count(secret, '\n')), '\n');
    at = span.end;
  }
  return out.append(text.substr(at));
}

std::string redact_once(std::string_view text, std::vector<std::string_view> values) {
  Spans found = secrets_of(text);
  add_values(text, found, values);
  sort_once(values);
  find_values(text, values, found);
  return found.empty() ? std::string(text) : masked(text, found);
}

/// What stands beside a mark may be a secret only now: the rest of a broken string.
std::string redact_with(std::string_view text, const std::vector<std::string_view>& values) {
  constexpr int most_rounds = 4;
  std::string out = redact_once(text, values);
  if (out == text) return out;
  for (int round = 1; round < most_rounds; ++round) {
    std::string again = redact_once(out, values);
    if (again == out) break;
    out = std::move(again);
  }
  return out;
}

}  // namespace

std::string redact(std::string_view text) { return redact_with(text, {}); }

void KnownSecrets::learn(std::string_view text) {
  std::vector<std::string_view> values;
  add_values(text, secrets_of(text), values);
  for (const std::string_view value : values)
    if (values_.size() < most_values) values_.emplace_back(value);
  std::ranges::sort(values_);
  const auto again = std::ranges::unique(values_);
  values_.erase(again.begin(), again.end());
}

std::string KnownSecrets::redact(std::string_view text) const {
  return redact_with(text, {values_.begin(), values_.end()});
}

}  // namespace schedmate::secrets
