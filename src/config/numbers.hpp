// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Python's operators and functions on plain values. Nothing where Python would raise, or where a
/// whole number would not fit.

#include "code/value.hpp"

namespace schedmate::config {

/// `mark` is one of + - * / %, f for //, p for **.
[[nodiscard]] std::optional<code::Value::Data> apply(const code::Value::Data& left, char mark,
                                                     const code::Value::Data& right);
/// `mark` is ==, !=, <, <=, > or >=.
[[nodiscard]] std::optional<code::Value::Data> compare(const code::Value::Data& left,
                                                       std::string_view mark,
                                                       const code::Value::Data& right);
/// int, float, str, len, round, abs, min, max, ceil, floor, sqrt.
[[nodiscard]] std::optional<code::Value::Data> call_function(std::string_view name,
                                                             const code::List& arguments);

}  // namespace schedmate::config
