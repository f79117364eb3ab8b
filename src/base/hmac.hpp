// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace schedmate {

/// HMAC-SHA256 (RFC 2104) as 64 hexadecimal digits.
[[nodiscard]] std::string hmac_sha256(std::string_view key, std::string_view message);

/// 32 bytes of the system's random source as 64 hexadecimal digits; "" when it fails.
[[nodiscard]] std::string random_key();

}  // namespace schedmate
