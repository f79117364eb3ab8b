// SPDX-License-Identifier: Apache-2.0
#pragma once

/// An error for programs: "schedmate.error.v1" with `code`, `message` and `mend`.

#include <optional>
#include <schedmate/result.hpp>
#include <string_view>

#include "base/document.hpp"

namespace schedmate {

/// "invalid", "not_found", ...: the code by its name.
[[nodiscard]] std::string_view name_of(ErrorCode code);
/// Nothing for any other word.
[[nodiscard]] std::optional<ErrorCode> error_code_named(std::string_view name);

/// `mend` is what the caller does next, by the code; how exactly stands in the message.
[[nodiscard]] Document error_document(const Error& error);

}  // namespace schedmate
