// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "log/lines/numbers.hpp"

namespace schedmate::progress {

/// Seconds of a number that has a unit of time, or whose key names one ("iteration (ms)",
/// "updt_s"); the value itself where nothing is said but the number is a clock.
[[nodiscard]] std::optional<double> seconds_of(const lines::Number& number,
                                               std::string_view plain_key);

/// Seconds of one step: of "3.81it/s", "41.36s/it", "550ms/step". Other rates are none.
[[nodiscard]] std::optional<double> seconds_of_rate(const lines::Number& number);

/// Seconds of a unit; 0: no unit of time.
[[nodiscard]] double seconds_in(std::string_view unit);
[[nodiscard]] bool has_unit(const lines::Number& number);

}  // namespace schedmate::progress
