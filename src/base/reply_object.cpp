// SPDX-License-Identifier: Apache-2.0
#include "base/reply_object.hpp"

#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

namespace schedmate {
namespace {

using Json = nlohmann::json;

constexpr int deepest = 8;
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

/// Watches the parser: nothing deeper than a reply can be, no key twice in one object.
class Strict {
 public:
  bool operator()(int depth, Json::parse_event_t event, const Json& parsed) {
    const auto level = static_cast<std::size_t>(depth);
    if (depth > deepest) broken_ = true;
    if (keys_.size() <= level) keys_.resize(level + 1);
    if (event == Json::parse_event_t::object_start && keys_.size() > level + 1) {
      keys_[level + 1].clear();
    }
    if (event == Json::parse_event_t::key && !keys_[level].insert(parsed.get<std::string>()).second)
      broken_ = true;
    return true;
  }
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  std::vector<std::set<std::string>> keys_;
  bool broken_ = false;
};

}  // namespace

Result<std::string_view> reply_object(std::string_view text) {
  if (text.size() > longest_reply) return fail(ErrorCode::bad_reply, "the reply is too long");
  const std::string_view body = outer_object(text);
  if (body.empty()) return fail(ErrorCode::bad_reply, "the reply holds no whole JSON object");
  Strict strict;
  const Json json = Json::parse(body, std::ref(strict), false);
  if (strict.broken())
    return fail(ErrorCode::bad_reply, "the reply is nested too deeply or has a key twice");
  if (!json.is_object()) return fail(ErrorCode::bad_reply, "the reply is not valid JSON");
  return body;
}

}  // namespace schedmate
