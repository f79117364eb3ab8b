// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A fast hash of bytes for checksums and lookups; it protects against accidents, not against
/// somebody who looks for collisions, so texts are compared as well.

#include <cstdint>
#include <string_view>

namespace schedmate {

[[nodiscard]] std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed = 0);

}  // namespace schedmate
