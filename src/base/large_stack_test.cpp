// SPDX-License-Identifier: Apache-2.0
#include "base/large_stack.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

namespace schedmate {
namespace {

/// Each call keeps a kilobyte.
int nested(int depth) {
  volatile char kept[1024] = {};
  kept[depth % 1024] = 1;
  return depth == 0 ? kept[0] : nested(depth - 1) + kept[depth % 1024];
}

}  // namespace

TEST_CASE("a large stack carries calls that an ordinary one does not") {
#ifndef __SANITIZE_ADDRESS__
  int sum = 0;
  on_large_stack(std::size_t{128} << 20U, [&] { sum = nested(60'000); });
  CHECK(sum == 60'001);
#endif
}

TEST_CASE("an exception on a large stack reaches the caller") {
  CHECK_THROWS_AS(on_large_stack(1 << 20, [] { throw std::runtime_error("no"); }),
                  std::runtime_error);
  int done = 0;
  on_large_stack(1 << 20, [&] { done = 1; });
  CHECK(done == 1);
}

}  // namespace schedmate
