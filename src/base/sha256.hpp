// SPDX-License-Identifier: Apache-2.0
#pragma once

/// SHA-256 as hex.

#include <string>
#include <string_view>

namespace schedmate {

[[nodiscard]] std::string sha256(std::string_view bytes);

}  // namespace schedmate
