// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <map>
#include <schedmate/sim.hpp>

#include "tests/support/small.hpp"

namespace schedmate::policy {
namespace {

using testing::small_cluster;
using testing::small_trace;
using testing::SmallJob;

/// Profile 0 is light; every pair runs at half speed.
SimResult replay(const std::vector<SmallJob>& jobs, int nodes,
                 std::map<std::string, std::string, std::less<>> more = {}) {
  Trace trace = small_trace(jobs);
  PackingTables tables;
  tables.profiles.resize(1);
  tables.pairs = {{0.5, 0.5}};
  trace.packing = std::make_shared<const PackingTables>(std::move(tables));
  const ClusterSpec cluster = small_cluster({nodes});
  more.insert({{"profiler", "off"}, {"packing", "on"}});
  const auto scheduler =
      make_scheduler("lucid", {cluster, {}, 1, forecast_of(trace)}, PolicyOptions(std::move(more)))
          .value();
  return simulate(trace, cluster, scheduler, {}).value();
}

SmallJob light(std::int64_t submit_s, std::int32_t gpus, std::int64_t duration_s) {
  return {.submit_s = submit_s, .gpus = gpus, .duration_s = duration_s, .profile = 0};
}

TEST_CASE("the partner is the one that started first, and two is the most") {
  // j1 is too long for j0. j2 joins j0, j3 joins j1, j4 finds all paired and waits for j2 to end.
  const SimResult result = replay(
      {light(0, 8, 100), light(0, 8, 300), light(1, 8, 50), light(2, 8, 50), light(3, 8, 50)}, 2);
  CHECK(result.outcomes[0].nodes == result.outcomes[2].nodes);
  CHECK(result.outcomes[2].packed_at == at(1));
  CHECK(result.outcomes[1].nodes == result.outcomes[3].nodes);
  CHECK(result.outcomes[3].packed_at == at(2));
  CHECK(result.outcomes[4].start == result.outcomes[2].end);
}

TEST_CASE("a survivor may be joined again") {
  // j1 shares with j0 until it ends at 1 + 20; j2 joins at 30.
  const SimResult result = replay({light(0, 8, 100), light(1, 8, 10), light(30, 8, 10)}, 1);
  CHECK(result.outcomes[1].end == at(21));
  CHECK(result.outcomes[2].packed_at == at(30));
  CHECK(result.outcomes[0].unpacked_at == result.outcomes[2].end);
  // j0 shared for 20 + 20 s at half speed.
  CHECK(result.outcomes[0].end == at(120));
}

TEST_CASE("jobs of more than eight GPUs are never packed, nor those without a profile") {
  CHECK(replay({light(0, 16, 100), light(1, 16, 10)}, 2).outcomes[1].start == at(100));
  CHECK(replay({{0, 8, 100}, light(1, 8, 10)}, 1).outcomes[1].start == at(100));
}

TEST_CASE("a newcomer may be twice as long as its partner, not longer") {
  CHECK(replay({light(0, 8, 100), light(1, 8, 200)}, 1).outcomes[1].start == at(1));
  CHECK(replay({light(0, 8, 100), light(1, 8, 201)}, 1).outcomes[1].start == at(100));
}

TEST_CASE("with pack=pays free GPUs come first, and a pair only where both end sooner in sum") {
  CHECK(replay({light(0, 8, 100), light(1, 8, 50)}, 2, {{"pack", "pays"}}).outcomes[1].packed_at ==
        SimTime());
  // By the published speeds, 50 s beside another end long before 99 s of waiting and 50 s alone.
  CHECK(replay({light(0, 8, 100), light(1, 8, 50)}, 1, {{"pack", "pays"}}).outcomes[1].packed_at ==
        at(1));
}

TEST_CASE("with reserve the first that cannot be placed is not passed by what would move it") {
  // The gang of 16 could start at 100; j2 would hold a node until 202, j3 ends before.
  const std::vector<SmallJob> jobs{{0, 8, 100}, {1, 16, 5}, {2, 8, 200}, {3, 8, 90}};
  CHECK(replay(jobs, 2).outcomes[1].start == at(202));
  const SimResult reserved = replay(jobs, 2, {{"reserve", "true"}});
  CHECK(reserved.outcomes[1].start == at(100));
  CHECK(reserved.outcomes[3].start == at(3));
}

TEST_CASE("with ageing who came early goes before who is shorter") {
  const std::vector<SmallJob> jobs{{0, 8, 100}, {1, 8, 50}, {51, 8, 40}};
  CHECK(replay(jobs, 1).outcomes[1].start == at(140));
  CHECK(replay(jobs, 1, {{"ageing", "0.3"}, {"reserve", "true"}}).outcomes[1].start == at(100));
}

}  // namespace
}  // namespace schedmate::policy
