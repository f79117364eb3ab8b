// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace schedmate::testing {

/// How many random cases a test runs: under a sanitizer, where each takes ten times as long, a
/// fifth of them.
constexpr std::uint64_t cases(std::uint64_t count) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return count / 5;
#else
  return count;
#endif
}

}  // namespace schedmate::testing
