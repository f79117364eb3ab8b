// SPDX-License-Identifier: Apache-2.0
#include "base/json_reader.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace schedmate {
namespace {

struct Scan {
  std::string fault;     ///< what is out of bounds; "" when nothing is
  std::size_t keys = 0;  ///< of all objects, if it is JSON
};

Scan scan(std::string_view text, const JsonBounds& bounds) {
  Scan found;
  int depth = 0;
  std::size_t values = 1;
  bool quoted = false;
  if (text.contains('\0')) return {"the JSON holds a NUL byte"};  // where its parser would stop
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted && c == '\\') {
      ++at;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '{' || c == '[')) {
      if (++depth > bounds.deepest)
        return {
            fmt::format("the JSON is nested deeper than {} levels at byte {}", bounds.deepest, at)};
      ++values;
    } else if (!quoted && (c == '}' || c == ']')) {
      --depth;
    } else if (!quoted && c == ',' && ++values > bounds.most_values) {
      return {fmt::format("the JSON has more than {} values", bounds.most_values)};
    } else if (!quoted && c == ':') {
      ++found.keys;
    }
  }
  return found;
}

/// Of all objects; of those that are twice in one, one is left.
std::size_t keys_of(const Document& document) {
  std::size_t keys = document.is_object() ? document.size() : 0;
  if (document.is_structured())
    for (const Document& each : document) keys += keys_of(each);
  return keys;
}

/// One that is twice in an object.
std::string twice_in(std::string_view text) {
  std::vector<std::set<std::string>> open;
  std::string twice;
  const auto watch = [&](int depth, Document::parse_event_t event, const Document& parsed) {
    const auto level = static_cast<std::size_t>(depth);
    if (open.size() <= level + 1) open.resize(level + 2);
    if (event == Document::parse_event_t::object_start) open[level + 1].clear();
    if (event != Document::parse_event_t::key) return true;
    const auto key = parsed.get<std::string>();
    if (!open[level].insert(key).second && twice.empty()) twice = key;
    return true;
  };
  [[maybe_unused]] const Document read = Document::parse(text, watch);
  return twice;
}

}  // namespace

Result<Document> read_json(std::string_view text, const JsonBounds& bounds) {
  Scan found = scan(text, bounds);
  if (!found.fault.empty()) return fail(ErrorCode::invalid, std::move(found.fault));
  try {
    Document document = Document::parse(text);
    if (keys_of(document) != found.keys)
      return fail(ErrorCode::invalid, "the JSON has a key twice: " + in_one_line(twice_in(text)));
    return document;
  } catch (const Document::parse_error& error) {
    return fail(ErrorCode::invalid, fmt::format("no valid JSON at byte {}", error.byte));
  } catch (const Document::exception&) {
    return fail(ErrorCode::invalid, "no valid JSON: a number is out of range");
  }
}

}  // namespace schedmate
