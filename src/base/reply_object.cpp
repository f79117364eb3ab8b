// SPDX-License-Identifier: Apache-2.0
#include "base/reply_object.hpp"

#include <nlohmann/json.hpp>

#include "base/json_reader.hpp"

namespace schedmate {
namespace {

constexpr JsonBounds bounds{.deepest = 8};
constexpr std::size_t longest_reply = 256 << 10;

/// From the first brace to its partner; quotes are respected.
std::string_view outer_object(std::string_view text) {
  const std::size_t start = text.find('{');
  if (start == std::string_view::npos) return {};
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = start; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
      continue;
    }
    if (c == '"') quoted = true;
    if (c == '{') ++depth;
    if (c == '}' && --depth == 0) return text.substr(start, i - start + 1);
  }
  return {};
}

}  // namespace

Result<std::string_view> reply_object(std::string_view text) {
  if (text.size() > longest_reply) return fail(ErrorCode::bad_reply, "the reply is too long");
  const std::string_view body = outer_object(text);
  if (body.empty()) return fail(ErrorCode::bad_reply, "the reply holds no whole JSON object");
  const auto object = read_json(body, bounds);
  if (!object) return fail(ErrorCode::bad_reply, "the reply: " + object.error().message);
  return body;
}

}  // namespace schedmate
