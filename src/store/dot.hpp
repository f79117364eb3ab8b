// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Dot products of the dense search, with AVX2 where the processor has it.

#include <cstdint>
#include <span>

namespace schedmate::store {

/// Values are padded with zeros to a multiple of this.
inline constexpr std::size_t dot_step = 32;
/// Largest size of a query code: 127 x 8191 x 2048 dimensions fit in 32 bits.
inline constexpr std::int32_t query_levels = 8191;
inline constexpr std::size_t most_dimensions = 4096;

/// Exact for |query| <= query_levels and sizes up to most_dimensions, a multiple of dot_step.
[[nodiscard]] std::int64_t dot_codes(std::span<const std::int16_t> query, const std::int8_t* row);

/// In double precision; any size.
[[nodiscard]] double dot_exact(std::span<const float> query, const float* row);

namespace portable {
[[nodiscard]] std::int64_t dot_codes(std::span<const std::int16_t> query, const std::int8_t* row);
[[nodiscard]] double dot_exact(std::span<const float> query, const float* row);
}  // namespace portable

}  // namespace schedmate::store
