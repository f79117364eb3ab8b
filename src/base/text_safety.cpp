// SPDX-License-Identifier: Apache-2.0
#include "base/text_safety.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "base/text.hpp"
#include "base/utf8.hpp"

namespace schedmate {

std::string clean_utf8(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    if (length == 0)
      fmt::format_to(std::back_inserter(clean), "\\x{:02x}", static_cast<unsigned char>(text[i]));
    else
      clean.append(text.substr(i, length));
    i += std::max<std::size_t>(length, 1);
  }
  return clean;
}

std::string html_escape(std::string_view text) {
  std::string escaped;
  for (const char c : clean_utf8(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default: {
        const auto code = static_cast<unsigned char>(c);
        const bool control = (code < 0x20 && c != '\n' && c != '\t') || code == 0x7F;
        escaped += control ? "\uFFFD" : std::string(1, c);
      }
    }
  }
  return escaped;
}

std::string script_safe(std::string_view json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&') {
      fmt::format_to(std::back_inserter(safe), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      safe += c;
    }
  }
  return safe;
}

namespace {

/// A spreadsheet would compute it. Numbers stay what they are.
bool is_formula(std::string_view text) {
  return !text.empty() && std::string_view("=+-@\t\r").contains(text.front()) &&
         !parse_number<double>(text);
}

}  // namespace

bool is_plain_cell(std::string_view text) {
  return text.find_first_of(",\"\r\n") == std::string_view::npos && !is_formula(text);
}

std::string csv_cell(std::string_view text) {
  if (is_plain_cell(text)) return std::string(text);
  std::string quoted = is_formula(text) ? "\"'" : "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace schedmate
