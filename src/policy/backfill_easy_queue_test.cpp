// SPDX-License-Identifier: Apache-2.0
#include "policy/backfill_easy_queue.hpp"

#include <doctest/doctest.h>

#include <map>

#include "base/random.hpp"

namespace schedmate::policy {
namespace {

TEST_CASE("a line of nobody has no first job") {
  CHECK_FALSE(WaitingLine().first(JobId{0}, WaitingLine::any_time));
}

TEST_CASE("the first job in order that is short enough is found as a plain search finds it") {
  Random random(1);
  WaitingLine line;
  std::map<JobId, Seconds> plain;
  std::uint32_t next = 0;
  for (int step = 0; step < 20'000; ++step) {
    // The line grows and shrinks in turn, so that its leaves are thinned out while some are kept.
    const bool growing = step / 500 % 2 == 0;
    if (random.below(10) < (growing ? 7 : 3)) {
      next += static_cast<std::uint32_t>(random.between(1, 5));
      const Seconds run_time(random.between(1, 1000));
      line.push(JobId{next}, run_time);
      plain.emplace(JobId{next}, run_time);
    }
    // Now and then one comes back, or comes between two.
    if (const JobId id{static_cast<std::uint32_t>(random.below(next + 1))};
        random.below(20) == 0 && plain.try_emplace(id, Seconds(7)).second)
      line.push(id, Seconds(7));
    const JobId from{static_cast<std::uint32_t>(random.below(next + 3))};
    const Seconds longest = step % 5 == 0 ? WaitingLine::any_time : Seconds(random.below(200));
    auto expected = plain.lower_bound(from);
    while (expected != plain.end() && expected->second > longest) ++expected;
    const auto found = line.first(from, longest);
    REQUIRE(found.has_value() == (expected != plain.end()));
    if (!found) continue;
    REQUIRE(*found == expected->first);
    if (random.below(2) == 0) continue;
    line.remove(*found);
    plain.erase(*found);
  }
}

}  // namespace
}  // namespace schedmate::policy
