// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace schedmate::testing {

/// Whether a sanitizer watches, under which all takes five to fifteen times as long. Test cases of
/// figures (how many, how large, how fast) are skipped there: "..." * doctest::skip(sanitized).
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// How many random cases a test runs, or how long its texts are: a fifth under a sanitizer.
constexpr std::uint64_t cases(std::uint64_t count) { return sanitized ? count / 5 : count; }

}  // namespace schedmate::testing
