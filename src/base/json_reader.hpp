// SPDX-License-Identifier: Apache-2.0
#pragma once

/// JSON that somebody else wrote, read without trust.

#include <cstddef>
#include <schedmate/result.hpp>
#include <string_view>

#include "base/document.hpp"

namespace schedmate {

struct JsonBounds {
  int deepest = 8;                   ///< levels of brackets
  std::size_t most_values = 100000;  ///< about how many values there may be in all
};

/// One whole JSON value. Errors: invalid (no valid JSON, out of bounds, a key twice in one object,
/// bytes that are no UTF-8), with the byte at which it is wrong where that is known. The bounds are
/// checked before anything is built: a value takes far more memory than its text.
[[nodiscard]] Result<Document> read_json(std::string_view text, const JsonBounds& bounds);

}  // namespace schedmate
