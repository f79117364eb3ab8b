// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.hpp"

#include <algorithm>
#include <array>

namespace schedmate {
namespace {

unsigned byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

}  // namespace

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | (code >> 6U));
    return put(0x80 | (code & 0x3FU));
  }
  if (code < 0x10000) {
    put(0xE0 | (code >> 12U));
  } else {
    put(0xF0 | (code >> 18U));
    put(0x80 | ((code >> 12U) & 0x3FU));
  }
  put(0x80 | ((code >> 6U) & 0x3FU));
  put(0x80 | (code & 0x3FU));
}

std::size_t utf8_length(std::string_view text, std::size_t at) {
  const unsigned first = byte_at(text, at);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() - at < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(text, at + i) & 0xC0U) != 0x80) return 0;
  }
  const unsigned second = byte_at(text, at + 1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool beyond = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
  return overlong || beyond ? 0 : length;
}

std::string with_valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    valid.append(length == 0 ? "?" : text.substr(i, length));
    i += std::max<std::size_t>(length, 1);
  }
  return valid;
}

std::uint32_t code_point(std::string_view text, std::size_t at, std::size_t length) {
  constexpr std::array<unsigned, 5> first_bits{0, 0x7F, 0x1F, 0x0F, 0x07};
  std::uint32_t code = byte_at(text, at) & first_bits[length];
  for (std::size_t i = 1; i < length; ++i) code = code << 6U | (byte_at(text, at + i) & 0x3FU);
  return code;
}

bool is_unsafe(std::uint32_t code) {
  struct Range {
    std::uint32_t first, last;
  };
  static constexpr std::array ranges{
      Range{0x00, 0x1F},       Range{0x7F, 0x9F},      // controls
      Range{0x61C, 0x61C},     Range{0x200E, 0x200F},  // marks of direction
      Range{0x200B, 0x200B},   Range{0xFEFF, 0xFEFF},  // blanks without width
      Range{0x2028, 0x202E},                           // line ends, embedded directions
      Range{0x2066, 0x2069},                           // isolated directions
      Range{0xFDD0, 0xFDEF},                           // no characters
      Range{0xE0000, 0xE007F},                         // tags: letters that are not shown
  };
  if (code >= 0x20 && code < 0x7F) return false;  // nearly all of them
  return std::ranges::any_of(
      ranges, [&](const Range& each) { return code >= each.first && code <= each.last; });
}

}  // namespace schedmate
