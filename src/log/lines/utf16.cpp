// SPDX-License-Identifier: Apache-2.0
#include "log/lines/utf16.hpp"

#include <cstdint>

#include "base/utf8.hpp"

namespace schedmate::lines {
namespace {

constexpr std::uint32_t replacement = 0xfffd;
constexpr char16_t mark = 0xfeff;

bool is_high(char16_t unit) { return unit >= 0xd800 && unit < 0xdc00; }
bool is_low(char16_t unit) { return unit >= 0xdc00 && unit < 0xe000; }

}  // namespace

void Utf16::add(std::string_view piece, std::string& out) {
  for (const char byte : piece) {
    const int value = static_cast<unsigned char>(byte);
    if (half_ < 0) {
      half_ = value;
      continue;
    }
    const int unit = big_endian_ ? half_ * 256 + value : value * 256 + half_;
    half_ = -1;
    add_unit(static_cast<char16_t>(unit), out);
  }
}

void Utf16::add_unit(char16_t unit, std::string& out) {
  if (high_ != 0 && is_low(unit)) {
    append_utf8(
        out, 0x10000U + ((static_cast<std::uint32_t>(high_) - 0xd800U) << 10U) + (unit - 0xdc00U));
    high_ = 0;
    return;
  }
  if (high_ != 0) append_utf8(out, replacement);
  high_ = is_high(unit) ? unit : char16_t{0};
  if (high_ == 0 && unit != mark) append_utf8(out, is_low(unit) ? replacement : unit);
}

int utf16_kind(std::string_view first_bytes) {
  if (first_bytes.starts_with("\xff\xfe")) return 1;
  return first_bytes.starts_with("\xfe\xff") ? 2 : 0;
}

}  // namespace schedmate::lines
