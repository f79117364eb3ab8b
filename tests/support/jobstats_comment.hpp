// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A summary of use as jobstats writes it into AdminComment, from its JSON.

#include <string>
#include <string_view>

#include "tests/support/gzip.hpp"

namespace schedmate::testing {

inline std::string as_base64(std::string_view bytes) {
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  unsigned held = 0;
  unsigned bits = 0;
  for (const char c : bytes) {
    held = (held << 8U | static_cast<unsigned char>(c)) & 0xFFFFU;
    for (bits += 8; bits >= 6; bits -= 6) text += alphabet[(held >> (bits - 6)) & 0x3FU];
  }
  if (bits > 0) text += alphabet[(held << (6 - bits)) & 0x3FU];
  text.append((4 - text.size() % 4) % 4, '=');
  return text;
}

inline std::string jobstats_comment(std::string_view json) {
  return "JS1:" + as_base64(gzipped(json));
}

}  // namespace schedmate::testing
