// SPDX-License-Identifier: Apache-2.0
#include "base/json_reader.hpp"

#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace schedmate {
namespace {

/// What is out of bounds; "" when nothing is.
std::string out_of_bounds(std::string_view text, const JsonBounds& bounds) {
  int depth = 0;
  std::size_t values = 1;
  bool quoted = false;
  if (text.contains('\0')) return "the JSON holds a NUL byte";  // where its parser would stop
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted && c == '\\') {
      ++at;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '{' || c == '[')) {
      if (++depth > bounds.deepest)
        return fmt::format("the JSON is nested deeper than {} levels at byte {}", bounds.deepest,
                           at);
      ++values;
    } else if (!quoted && (c == '}' || c == ']')) {
      --depth;
    } else if (!quoted && c == ',' && ++values > bounds.most_values) {
      return fmt::format("the JSON has more than {} values", bounds.most_values);
    }
  }
  return "";
}

/// Watches the parser for a key that is twice in one object.
class Keys {
 public:
  bool operator()(int depth, Document::parse_event_t event, const Document& parsed) {
    const auto level = static_cast<std::size_t>(depth);
    if (open_.size() <= level + 1) open_.resize(level + 2);
    if (event == Document::parse_event_t::object_start) open_[level + 1].clear();
    if (event == Document::parse_event_t::key) {
      const auto key = parsed.get<std::string>();
      if (!open_[level].insert(key).second && twice_.empty()) twice_ = key;
    }
    return true;
  }
  [[nodiscard]] const std::string& twice() const { return twice_; }

 private:
  std::vector<std::set<std::string>> open_;
  std::string twice_;
};

}  // namespace

Result<Document> read_json(std::string_view text, const JsonBounds& bounds) {
  if (std::string why = out_of_bounds(text, bounds); !why.empty())
    return fail(ErrorCode::invalid, std::move(why));
  Keys keys;
  try {
    Document document = Document::parse(text, std::ref(keys));
    if (!keys.twice().empty())
      return fail(ErrorCode::invalid, "the JSON has a key twice: " + in_one_line(keys.twice()));
    return document;
  } catch (const Document::parse_error& error) {
    return fail(ErrorCode::invalid, fmt::format("no valid JSON at byte {}", error.byte));
  } catch (const Document::exception&) {
    return fail(ErrorCode::invalid, "no valid JSON: a number is out of range");
  }
}

}  // namespace schedmate
