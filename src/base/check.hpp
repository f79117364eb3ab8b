// SPDX-License-Identifier: Apache-2.0
#pragma once

/// SCHEDMATE_CHECK(condition, "what must hold"): ends the program with place and text when our own
/// code broke an invariant. On in release builds; never for user input.

namespace schedmate {
/// Aborts. Weak: libschedmate.so has another, which throws, since no abort may cross its face
/// (src/face/c_face.cpp).
[[noreturn, gnu::cold, gnu::weak]] void check_failed(const char* file, int line, const char* text);
}  // namespace schedmate

#define SCHEDMATE_CHECK(condition, text)                                   \
  do {                                                                     \
    if (!(condition)) ::schedmate::check_failed(__FILE__, __LINE__, text); \
  } while (false)
