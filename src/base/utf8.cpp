// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.hpp"

namespace schedmate {

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

}  // namespace schedmate
