// SPDX-License-Identifier: Apache-2.0
#include "base/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/utf8.hpp"

namespace schedmate {
namespace {

/// Characters that would command a terminal stand only within texts of a document, where JSON has
/// another spelling for them.
std::string with_escapes(std::string json) {
  const auto is_plain = [](char c) { return (c >= ' ' && c <= '~') || c == '\n'; };
  if (std::ranges::all_of(json, is_plain)) return json;
  std::string safe;
  safe.reserve(json.size());
  for (std::size_t at = 0; at < json.size();) {
    const std::size_t length = std::max<std::size_t>(utf8_length(json, at), 1);
    const std::uint32_t code = code_point(json, at, length);
    if (!is_unsafe(code) || code == '\n')
      safe.append(json, at, length);
    else if (code <= 0xFFFF)
      safe += fmt::format("\\u{:04x}", code);
    else  // a surrogate pair
      safe += fmt::format("\\u{:04x}\\u{:04x}", 0xD7C0 + (code >> 10U), 0xDC00 + (code & 0x3FFU));
    at += length;
  }
  return safe;
}

}  // namespace

const Document& part(const Document& document, const char* key) {
  static const Document nothing;
  if (!document.is_object()) return nothing;
  const auto found = document.find(key);
  return found == document.end() ? nothing : *found;
}

std::string in_one_line(const Document& document) {
  return with_escapes(document.dump(-1, ' ', false, Document::error_handler_t::replace));
}

std::string indented(const Document& document) {
  return with_escapes(document.dump(2, ' ', false, Document::error_handler_t::replace));
}

}  // namespace schedmate
