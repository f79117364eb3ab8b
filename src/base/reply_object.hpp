// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The JSON object of a language model's reply, found without trust.

#include <schedmate/result.hpp>
#include <string_view>

namespace schedmate {

/// The part of the reply that is one valid JSON object; prose and a code fence around it are
/// stepped over. Errors: bad_reply (no JSON object, too long, too deep, a key twice).
[[nodiscard]] Result<std::string_view> reply_object(std::string_view text);

}  // namespace schedmate
