// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The JSON object of a language model's reply, read without trust.

#include <nlohmann/json_fwd.hpp>
#include <schedmate/result.hpp>
#include <string_view>

namespace schedmate {

/// Prose and a code fence around the object are stepped over. Errors: bad_reply (no JSON object,
/// too long, too deep, a key twice).
[[nodiscard]] Result<nlohmann::json> read_reply_object(std::string_view text);

}  // namespace schedmate
