// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace schedmate::lines {

/// Turns UTF-16 that comes in pieces into UTF-8; what is no text becomes U+FFFD.
class Utf16 {
 public:
  explicit Utf16(bool big_endian) : big_endian_(big_endian) {}
  /// Appends what the piece gives; half units wait for the next one.
  void add(std::string_view piece, std::string& out);

 private:
  void add_unit(char16_t unit, std::string& out);

  bool big_endian_;
  int half_ = -1;      ///< first byte of a unit
  char16_t high_ = 0;  ///< first unit of a pair
};

/// 0: not UTF-16; 1: little endian; 2: big endian. By the byte order mark.
[[nodiscard]] int utf16_kind(std::string_view first_bytes);

}  // namespace schedmate::lines
