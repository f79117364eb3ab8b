// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Shell patterns: `*`, `?`, `[a-z]`, `[!a]`; a backslash takes the next character as it is.

#include <string>
#include <string_view>

namespace schedmate::command {

/// Does the whole text fit? At most |pattern| x |text| steps.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view text);

[[nodiscard]] bool has_pattern_marks(std::string_view text);
/// With a backslash before each mark, so that quoted text stands for itself.
[[nodiscard]] std::string escaped_pattern(std::string_view text);

}  // namespace schedmate::command
