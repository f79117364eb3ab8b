// SPDX-License-Identifier: Apache-2.0
#include "config/interpolation_text.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/text.hpp"

namespace schedmate::config {
namespace {

bool is_quote(char c) { return c == '\'' || c == '"'; }

// Behind the closing brace of the ${ that starts at `at`; npos when there is none.
std::size_t end_of_expression(std::string_view text, std::size_t at) {
  int open = 0;
  char quote = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (is_quote(c)) {
      quote = c;
    } else if (c == '{') {
      ++open;
    } else if (c == '}' && --open == 0) {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

std::vector<std::string_view> split_arguments(std::string_view text) {
  std::vector<std::string_view> parts;
  int open = 0;
  char quote = 0;
  std::size_t start = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (is_quote(c)) {
      quote = c;
    } else if (c == '{' || c == '[' || c == '(') {
      ++open;
    } else if (c == '}' || c == ']' || c == ')') {
      --open;
    } else if (c == ',' && open == 0) {
      parts.push_back(trim(text.substr(start, at - start)));
      start = at + 1;
    }
  }
  const auto last = trim(text.substr(start));
  if (!last.empty() || !parts.empty()) parts.push_back(last);
  return parts;
}

}  // namespace

bool has_expression(std::string_view text) { return text.contains("${"); }

std::optional<std::vector<TextPart>> split_expressions(std::string_view text) {
  std::vector<TextPart> parts;
  std::string literal;
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with("\\${")) {
      literal += "${";
      at += 3;
    } else if (text.substr(at).starts_with("${")) {
      const auto end = end_of_expression(text, at);
      if (end == std::string_view::npos) return std::nullopt;
      if (!literal.empty()) parts.push_back({std::exchange(literal, {}), false});
      parts.push_back({std::string(trim(text.substr(at + 2, end - at - 3))), true});
      at = end;
    } else {
      literal += text[at++];
    }
  }
  if (!literal.empty()) parts.push_back({std::move(literal), false});
  return parts;
}

std::optional<ResolverCall> split_resolver(std::string_view inside) {
  const auto is_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
  };
  const auto end = std::ranges::find_if_not(inside, is_name) - inside.begin();
  const auto colon = static_cast<std::size_t>(end);
  if (colon == 0 || colon >= inside.size() || inside[colon] != ':') return std::nullopt;
  const auto rest = inside.substr(colon + 1);
  return ResolverCall{inside.substr(0, colon), rest, split_arguments(rest)};
}

Reference split_reference(std::string_view text) {
  Reference found;
  found.dots = std::min(text.find_first_not_of('.'), text.size());
  text.remove_prefix(found.dots);
  while (!text.empty()) {
    if (text[0] == '.') {
      text.remove_prefix(1);
    } else if (text[0] == '[') {
      const auto close = std::min(text.find(']'), text.size());
      auto key = trim(text.substr(1, close - 1));
      if (key.size() >= 2 && is_quote(key[0]) && key.back() == key[0])
        key = key.substr(1, key.size() - 2);
      found.keys.emplace_back(key);
      text.remove_prefix(std::min(close + 1, text.size()));
    } else {
      const auto end = std::min(text.find_first_of(".["), text.size());
      found.keys.emplace_back(text.substr(0, end));
      text.remove_prefix(end);
    }
  }
  return found;
}

}  // namespace schedmate::config
