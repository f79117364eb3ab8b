// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/document.hpp"

namespace schedmate {

/// A whole number of a JSON document, 8.0 too (to a JSON Schema it is an integer); nothing where it
/// is none, or may have lost digits.
[[nodiscard]] std::optional<std::int64_t> whole_number(const Document& value);

}  // namespace schedmate
