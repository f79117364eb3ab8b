// SPDX-License-Identifier: Apache-2.0
#pragma once

/// SCHEDMATE_CHECK(condition, "what must hold"): aborts with place and text when our own code broke
/// an invariant. On in release builds; never for user input.

#include <cstdio>
#include <cstdlib>

namespace schedmate {
[[noreturn]] inline void check_failed(const char* file, int line, const char* text) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, text);
  std::abort();
}
}  // namespace schedmate

#define SCHEDMATE_CHECK(condition, text)                                   \
  do {                                                                     \
    if (!(condition)) ::schedmate::check_failed(__FILE__, __LINE__, text); \
  } while (false)
