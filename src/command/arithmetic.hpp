// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Integer expressions of $(( )), (( )), let and C-style for.

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace schedmate::command {

/// What variables mean. `read` gives nothing for what is not known; an unset name is 0.
struct Numbers {
  std::function<std::optional<std::int64_t>(std::string_view name)> read;
  std::function<void(std::string_view name, std::optional<std::int64_t> value)> write;
};

/// Nothing when a part is unknown, not understood, overflows or divides by zero. Assignments in it
/// are carried out.
[[nodiscard]] std::optional<std::int64_t> calculate(std::string_view expression,
                                                    const Numbers& numbers);

/// "12", "0x1f", "8#17", "-3".
[[nodiscard]] std::optional<std::int64_t> shell_number(std::string_view text);

}  // namespace schedmate::command
