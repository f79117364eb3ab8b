// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <map>
#include <schedmate/job_map.hpp>

#include "base/random.hpp"
#include "tests/support/small.hpp"

namespace schedmate {
namespace {

using testing::job;

TEST_CASE("an entry is there from when it is asked for until it is erased") {
  JobMap<int> map;
  CHECK(map.find(job(3)) == nullptr);
  map[job(3)] = 7;
  CHECK(map.at(job(3)) == 7);
  CHECK_FALSE(map.contains(job(2)));
  CHECK_FALSE(map.contains(job(4)));
  CHECK(map.end() == job(4));
  map.erase(job(3));
  map.erase(job(3));
  CHECK_FALSE(map.contains(job(3)));
  CHECK(map[job(3)] == 0);
}

TEST_CASE("entries stay where they are, and a copy has its own") {
  JobMap<int> map;
  int* const first = &map[job(0)];
  for (std::uint32_t i = 1; i < 5000; ++i) map[job(i)] = 1;
  CHECK(&map.at(job(0)) == first);
  JobMap<int> copy = map;
  copy[job(0)] = 9;
  CHECK(map.at(job(0)) == 0);
}

TEST_CASE("any order of coming and going gives what a map gives") {
  Random random(2);
  JobMap<std::int64_t> map;
  std::map<std::uint32_t, std::int64_t> expected;
  for (int step = 0; step < 200'000; ++step) {
    const auto base = static_cast<std::uint32_t>(step / 20);
    const auto id = base + static_cast<std::uint32_t>(random.below(1500));
    if (random.below(2) == 0) {
      map[job(id)] = expected[id] = step;
    } else {
      map.erase(job(id));
      expected.erase(id);
    }
    const auto other = base + static_cast<std::uint32_t>(random.below(1500));
    const auto* found = map.find(job(other));
    REQUIRE((found != nullptr) == expected.contains(other));
    if (found != nullptr) REQUIRE(*found == expected[other]);
  }
  std::map<std::uint32_t, std::int64_t> seen;
  map.for_each([&](JobId id, std::int64_t value) { seen.emplace(index_of(id), value); });
  CHECK(seen == expected);
}

TEST_CASE("memory follows the entries that are there, not those that were") {
  JobMap<int> map;
  map[job(5)] = 1;  // stays forever
  std::size_t most = 0;
  for (std::uint32_t i = 1000; i < 3'000'000; ++i) {
    map[job(i)] = 1;
    if (i >= 2000) map.erase(job(i - 1000));
    if (i % 256 == 0) most = std::max(most, map.capacity());  // a page is new: it looks at all
  }
  CHECK(most <= 7 * 256);  // 1000 in a row, the old one, a spare page
  CHECK(map.at(job(5)) == 1);
  CHECK(map.begin() == job(0));
  map.erase(job(5));
  map[job(3'000'000)] = 1;
  for (std::uint32_t i = 2'999'000; i < 3'000'000; ++i) map.erase(job(i));
  CHECK(index_of(map.begin()) > 2'900'000);
}

}  // namespace
}  // namespace schedmate
