// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The part of sed's language that commands of jobs use: `s` and `d`, for all lines or for those
/// that an address picks, several of them in one expression.

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace schedmate::command {

/// What sed makes of a text; nothing when an expression holds anything else.
[[nodiscard]] std::optional<std::string> edited(std::string_view text,
                                                std::span<const std::string> expressions,
                                                bool extended);

}  // namespace schedmate::command
