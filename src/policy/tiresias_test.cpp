// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <schedmate/sim.hpp>

#include "tests/support/small.hpp"

namespace schedmate {
namespace {

using testing::small_cluster;
using testing::small_trace;
using Settings = std::map<std::string, std::string, std::less<>>;

SimResult replay(const Trace& trace, const Settings& settings, int nodes = 1) {
  const ClusterSpec cluster = small_cluster({nodes});
  const auto scheduler =
      make_scheduler("tiresias", {trace, cluster, {}}, PolicyOptions(settings)).value();
  return simulate(trace, cluster, scheduler, {}).value();
}

TEST_CASE("jobs start at multiples of the interval on the trace's clock only") {
  const Trace trace = small_trace({{-100, 1, 30}, {0, 1, 30}, {61, 1, 30}});
  const SimResult result = replay(trace, {});
  CHECK(result.outcomes[0].start == at(-60));
  CHECK(result.outcomes[1].start == at(0));
  CHECK(result.outcomes[2].start == at(120));
  CHECK(replay(trace, {{"interval_s", "7"}}).outcomes[2].start == at(63));
}

TEST_CASE("a job leaves a queue only when its service exceeds the threshold") {
  // 8 GPUs x 60 s = 480 at 60: not above 480, so j0 (first by submission) keeps the node until 120.
  const Trace trace = small_trace({{0, 8, 300}, {1, 8, 30}});
  CHECK(replay(trace, {{"thresholds", "480"}}).outcomes[1].start == at(120));
  CHECK(replay(trace, {{"thresholds", "479"}}).outcomes[1].start == at(60));
}

TEST_CASE("with three queues the least served goes first, whatever their submission") {
  // Thresholds 8 x 50 and 8 x 150. j0 0-60, then demoted for j1; j1 60-120, demoted: j0 again
  // (both in the second queue, j0 first), until it exceeds 1200 after 90 + 60 = 151 s: at 240 it is
  // in the third queue and j1 goes on.
  const Trace trace = small_trace({{0, 8, 400}, {1, 8, 400}});
  const SimResult result = replay(trace, {{"thresholds", "400+1200"}});
  CHECK(result.outcomes[0].start == at(0));
  CHECK(result.outcomes[1].start == at(60));
  CHECK(result.outcomes[0].preemptions >= 2);
  const SimResult two = replay(trace, {{"thresholds", "400"}});
  CHECK(two.outcomes[0].preemptions == 1);
  // j0: 60 run, 340 + 40 left at 120, when j1 has been demoted as well: it keeps the node.
  CHECK(two.outcomes[0].end == at(500));
}

TEST_CASE("running jobs go before waiting ones of the same queue and submission time") {
  // Two gangs of the same second: j0 runs; j1 waits, in the same queue, and does not disturb it.
  const Trace trace = small_trace({{0, 8, 100}, {0, 8, 100}});
  const SimResult result = replay(trace, {});
  CHECK(result.outcomes[0].preemptions == 0);
  CHECK(result.outcomes[0].end == at(100));
  CHECK(result.outcomes[1].start == at(120));
}

TEST_CASE("attained service counts GPUs: a wide job is demoted before a narrow one") {
  // After 60 s: 16 x 60 = 960 above 900, 8 x 60 below. So at 60 j0 yields to j2, j1 stays.
  const Trace trace = small_trace({{0, 16, 200}, {0, 8, 200}, {30, 16, 100}});
  const SimResult result = replay(trace, {{"thresholds", "900"}}, 3);
  CHECK(result.outcomes[0].preemptions == 1);
  CHECK(result.outcomes[1].preemptions == 0);
  CHECK(result.outcomes[2].start == at(60));
}

}  // namespace
}  // namespace schedmate
