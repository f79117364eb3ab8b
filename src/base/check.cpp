// SPDX-License-Identifier: Apache-2.0
#include "base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace schedmate {

void check_failed(const char* file, int line, const char* text) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, text);
  std::abort();
}

}  // namespace schedmate
