// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <schedmate/cluster.hpp>
#include <set>

#include "base/random.hpp"

namespace schedmate {
namespace {

std::uint32_t next_in(const std::set<std::uint32_t>& set, std::uint32_t from) {
  const auto found = set.lower_bound(from);
  return found == set.end() ? UINT32_MAX : *found;
}

TEST_CASE("an index set answers like an ordered set, also after growing over 64 and 4096") {
  Random random(7);
  for (const std::uint32_t step : {1U, 63U, 700U}) {
    IndexSet set;
    std::set<std::uint32_t> model;
    std::uint32_t capacity = 1;
    set.resize(capacity);
    for (int i = 0; i < 20'000; ++i) {
      if (i % 50 == 0 && capacity < 9'000) {
        capacity += step;
        set.resize(capacity);
      }
      const auto member = static_cast<std::uint32_t>(random.below(capacity));
      if (random.below(3) == 0) {
        set.erase(member);
        model.erase(member);
      } else if (random.below(4) == 0) {
        set.insert(member);
        model.insert(member);
      }
      const auto from = static_cast<std::uint32_t>(random.below(capacity + 70));
      REQUIRE(set.next(from) == next_in(model, from));
    }
  }
}

TEST_CASE("members that were there before a level was added are still found") {
  IndexSet set;
  set.resize(64);
  set.insert(63);
  set.resize(65);
  CHECK(set.next(0) == 63);
  set.resize(4097);
  CHECK(set.next(0) == 63);
  CHECK(set.next(64) == UINT32_MAX);
  set.insert(4096);
  CHECK(set.next(64) == 4096);
}

TEST_CASE("an empty index set has no next member, not even at the end of the range") {
  IndexSet set;
  CHECK(set.next(0) == UINT32_MAX);
  set.resize(10);
  CHECK(set.next(0) == UINT32_MAX);
  CHECK(set.next(UINT32_MAX) == UINT32_MAX);
}

}  // namespace
}  // namespace schedmate
