// SPDX-License-Identifier: Apache-2.0
#include "report/text_safety.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>

#include "base/text.hpp"

namespace schedmate::report {
namespace {

unsigned char byte(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

// Length of the well-formed UTF-8 sequence at the start of `text`, 0 when there is none (Unicode
// table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF).
std::size_t sequence_length(std::string_view text) {
  const unsigned first = byte(text, 0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(text, i) & 0xC0U) != 0x80U) return 0;
  }
  const unsigned second = byte(text, 1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool beyond = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
  return overlong || beyond ? 0 : length;
}

}  // namespace

std::string clean_utf8(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0) {
      fmt::format_to(std::back_inserter(clean), "\\x{:02x}", byte(text, 0));
    } else {
      clean.append(text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
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

}  // namespace schedmate::report
