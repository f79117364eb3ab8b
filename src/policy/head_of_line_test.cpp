// SPDX-License-Identifier: Apache-2.0
#include "policy/head_of_line.hpp"

#include <doctest/doctest.h>

#include <schedmate/sim.hpp>

#include "tests/support/small.hpp"

namespace schedmate::policy {
namespace {

using testing::small_cluster;
using testing::small_trace;

double by_estimate(const JobInfo& job) { return job.estimate.count(); }

std::vector<std::int64_t> starts(const Trace& trace, HeadOfLine policy) {
  Scheduler scheduler;
  scheduler.decide = std::move(policy);
  const auto result = simulate(trace, small_cluster({1}), scheduler, {});
  std::vector<std::int64_t> times;
  for (const JobOutcome& outcome : result->outcomes) times.push_back(seconds_of(outcome.start));
  return times;
}

TEST_CASE("smaller ranks go first, equal ones by order of entry") {
  // Ranks 100, 30, 20, 30; each takes the whole node.
  const Trace trace = small_trace({{0, 8, 100}, {1, 8, 30}, {2, 8, 20}, {3, 8, 30}});
  CHECK(starts(trace, HeadOfLine(by_estimate)) == std::vector<std::int64_t>{0, 120, 100, 150});
}

TEST_CASE("with small_first equal ranks go by GPU count") {
  const Trace trace = small_trace({{0, 8, 100}, {1, 6, 30}, {2, 4, 30}});
  CHECK(starts(trace, HeadOfLine(by_estimate)) == std::vector<std::int64_t>{0, 100, 130});
  CHECK(starts(trace, HeadOfLine(by_estimate, true)) == std::vector<std::int64_t>{0, 130, 100});
}

TEST_CASE("nothing overtakes a head that cannot be placed") {
  // j1 needs 8 and waits for j0; j2 would fit beside j0 all the time.
  const Trace trace = small_trace({{0, 4, 100}, {1, 8, 10}, {2, 1, 50}});
  CHECK(starts(trace, HeadOfLine(by_estimate)) == std::vector<std::int64_t>{0, 100, 110});
}

}  // namespace
}  // namespace schedmate::policy
