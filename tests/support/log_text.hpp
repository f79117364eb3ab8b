// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Logs that tests write.

#include <string>
#include <string_view>

namespace schedmate::testing {

constexpr double noon_of_2021_03_04 = 1614859200;

/// Little-endian, with a mark in front.
inline std::string utf16(std::string_view text) {
  std::string out = "\xff\xfe";
  for (const char c : text) (out += c) += '\0';
  return out;
}

}  // namespace schedmate::testing
