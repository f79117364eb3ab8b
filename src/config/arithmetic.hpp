// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Arithmetic that configs write: `${eval:'${a} * 2'}`, `!ref <a> // <b>`, `${div:${a},2}`.

#include "config/value_names.hpp"

namespace schedmate::config {

/// A Python expression of numbers, texts, + - * / // % **, comparisons, not/and/or, `x if c else y`
/// and int, float, str, len, round, abs, min, max, ceil, floor, sqrt (with or without `math.`).
/// Nothing when it is anything else, or when Python would raise.
[[nodiscard]] std::optional<Value::Data> evaluate(std::string_view expression);

/// A resolver whose name says what it does (mul, divide, add, int, ...). Nothing when the name is
/// not one of these; unknown when projects differ in what they mean (`div` with a remainder).
[[nodiscard]] std::optional<Value::Data> calculate(std::string_view name, const List& arguments);

}  // namespace schedmate::config
