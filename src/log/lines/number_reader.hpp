// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One number at a place of a text, without the words around it.

#include <cstddef>
#include <string_view>

namespace schedmate::lines {

struct Literal {
  double value = 0;
  bool whole = false;
  bool clock = false;
  std::size_t length = 0;  ///< 0: there is no number here
};

/// "1,234", "-0.5", "3.2e+4", "nan", "0:21:51", "1 day, 2:03:04", "6h 48m 03s". No number: a date,
/// an address, hexadecimal digits, a version ("1.2.3").
[[nodiscard]] Literal read_literal(std::string_view text);

}  // namespace schedmate::lines
