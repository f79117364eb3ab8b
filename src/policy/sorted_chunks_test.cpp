// SPDX-License-Identifier: Apache-2.0
#include "policy/sorted_chunks.hpp"

#include <doctest/doctest.h>

#include <set>

#include "base/random.hpp"

namespace schedmate::policy {
namespace {

TEST_CASE("chunks hold what a set holds, in its order") {
  Random random(1);
  std::set<int> expected;
  SortedChunks<int> chunks;
  for (int step = 0; step < 20'000; ++step) {
    // Grows for a long time, then shrinks to nothing.
    const int value = static_cast<int>(random.below(5000));
    const bool grows = step < 10'000;
    if (expected.contains(value) != grows) {
      if (grows) {
        expected.insert(value);
        chunks.insert(value);
      } else {
        expected.erase(value);
        chunks.erase(value);
      }
    }
    REQUIRE(chunks.size() == expected.size());
    if (expected.empty() || step % 500 != 0) continue;
    CHECK(chunks.front() == *expected.begin());
    std::size_t place = 0;
    auto next = expected.begin();
    for (const int each : chunks) {
      REQUIRE(each == *next++);
      REQUIRE(chunks.at(place++) == each);
    }
    CHECK(next == expected.end());
  }
}

}  // namespace
}  // namespace schedmate::policy
