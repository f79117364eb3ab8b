// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Python's operators and functions on plain values. Nothing where Python would raise, or where a
/// whole number would not fit.

#include "config/value_names.hpp"

namespace schedmate::config {

/// `mark` is one of + - * / %, f for //, p for **.
[[nodiscard]] std::optional<Value::Data> apply(const Value::Data& left, char mark,
                                               const Value::Data& right);
/// `mark` is ==, !=, <, <=, > or >=.
[[nodiscard]] std::optional<Value::Data> compare(const Value::Data& left, std::string_view mark,
                                                 const Value::Data& right);
/// int, float, str, len, round, abs, min, max, ceil, floor, sqrt.
[[nodiscard]] std::optional<Value::Data> call_function(std::string_view name,
                                                       const List& arguments);

}  // namespace schedmate::config
