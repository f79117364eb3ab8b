// SPDX-License-Identifier: Apache-2.0
#include "tree/encoding.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/utf8.hpp"

namespace schedmate::tree {
namespace {

unsigned byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

std::string with_latin1(std::string text) {
  std::size_t at = 0;
  const auto skip_good = [&] {
    while (at < text.size()) {
      const std::size_t length = utf8_length(text, at);
      if (length == 0) return;
      at += length;
    }
  };
  skip_good();
  if (at == text.size()) return text;
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  for (std::size_t from = 0; from < text.size();) {
    out.append(text, from, at - from);
    if (at < text.size()) append_utf8(out, byte_at(text, at++));
    from = at;
    skip_good();
  }
  return out;
}

struct Utf16 {
  std::size_t low, high;  ///< where in a pair the bytes stand
};

/// Nothing where a surrogate has no partner or a unit is zero: then it is no text.
std::optional<std::string> from_utf16(std::string_view bytes, Utf16 order) {
  if (bytes.size() % 2 != 0) return std::nullopt;
  std::string out;
  out.reserve(bytes.size());
  const auto unit = [&](std::size_t at) {
    return byte_at(bytes, at + order.low) | (byte_at(bytes, at + order.high) << 8U);
  };
  for (std::size_t at = 0; at < bytes.size(); at += 2) {
    std::uint32_t code = unit(at);
    if (code == 0 || (code >= 0xDC00 && code < 0xE000)) return std::nullopt;
    if (code >= 0xD800 && code < 0xDC00) {
      at += 2;
      const std::uint32_t second = at < bytes.size() ? unit(at) : 0;
      if (second < 0xDC00 || second > 0xDFFF) return std::nullopt;
      code = 0x10000 + ((code - 0xD800) << 10U) + (second - 0xDC00);
    }
    append_utf8(out, code);
  }
  return out;
}

/// Mostly ASCII in two bytes each: nearly all zeros stand at the same side of the pairs.
std::optional<Utf16> guess_utf16(std::string_view bytes) {
  const std::size_t pairs = std::min<std::size_t>(bytes.size() / 2, 2048);
  std::array<std::size_t, 2> zeros{};
  for (std::size_t at = 0; at < 2 * pairs; ++at) {
    if (bytes[at] == '\0') ++zeros[at % 2];
  }
  if (zeros[1] * 10 > pairs * 7 && zeros[0] == 0) return Utf16{0, 1};
  if (zeros[0] * 10 > pairs * 7 && zeros[1] == 0) return Utf16{1, 0};
  return std::nullopt;
}

/// Compressed data may lack zero bytes; text has next to no control characters.
bool looks_binary(std::string_view bytes) {
  const std::string_view start = bytes.substr(0, 8192);
  std::size_t controls = 0;
  for (const char c : start) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 && (byte < 0x07 || byte > 0x0D) && byte != 0x1B) ++controls;
  }
  return controls * 20 > start.size();
}

}  // namespace

std::optional<std::string> as_utf8(std::string bytes) {
  const std::string_view view = bytes;
  if (view.starts_with("\xFF\xFE")) return from_utf16(view.substr(2), {0, 1});
  if (view.starts_with("\xFE\xFF")) return from_utf16(view.substr(2), {1, 0});
  if (view.starts_with("\xEF\xBB\xBF")) bytes.erase(0, 3);
  if (bytes.find('\0') != std::string::npos) {
    const auto order = guess_utf16(bytes);
    return order ? from_utf16(bytes, *order) : std::nullopt;
  }
  if (looks_binary(bytes)) return std::nullopt;
  return with_latin1(std::move(bytes));
}

int line_not_utf8(std::string_view bytes) {
  if (bytes.contains('\0') || bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF"))
    return 0;
  int line = 1;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = utf8_length(bytes, at);
    if (length == 0) return line;
    if (bytes[at] == '\n') ++line;
    at += length;
  }
  return 0;
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string_view cut_utf8(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (byte_at(text, bytes) & 0xC0U) == 0x80) --bytes;
  return text.substr(0, bytes);
}

}  // namespace schedmate::tree
