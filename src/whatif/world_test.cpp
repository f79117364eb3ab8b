// SPDX-License-Identifier: Apache-2.0
#include "whatif/world.hpp"

#include <doctest/doctest.h>

#include "whatif/sample.hpp"

namespace schedmate::whatif {
namespace {

/// Until 100, when job 1 ends, jobs that ended earlier may be missing from the record.
AccountingDump crowded() {
  auto dump = sample::past_dump({{"1", "ann", "p", 1, 0, 10, 100},
                                 {"2", "bob", "p", 1, 20, 90, 200},
                                 {"3", "ann", "p", 1, 30, 150, 250},
                                 {"4", "cem", "p", 1, 120, 130, 160}},
                                1);
  dump.jobs[3].running = true;
  return dump;
}

}  // namespace

TEST_CASE(
    "warm-up: what ran enters at its real start, what waited enters when the record is whole") {
  const auto dump = crowded();
  const RecordedCluster world =
      make_world(dump, infer_cluster(dump).value(), [](std::string_view name) {
        return "<" + std::string(name) + ">";
      }).value();
  CHECK(seconds_of(world.complete_from) == 100);
  REQUIRE(world.trace.jobs.size() == 4);
  const auto entry = [&](std::size_t i) { return seconds_of(world.trace.jobs[i].submit); };
  CHECK(entry(0) == 10);
  CHECK(entry(1) == 90);
  CHECK(entry(2) == 100);  // waited since 30
  CHECK(entry(3) == 120);
  CHECK(world.past[0].pinned);
  CHECK(world.past[1].pinned);
  CHECK_FALSE(world.past[2].pinned);
  CHECK(seconds_of(world.past[2].eligible) == 30);
  CHECK(world.past[3].censored);
  CHECK(world.trace.users == std::vector<std::string>{"<ann>", "<bob>", "<cem>"});
  CHECK(world.trace.jobs[2].id == "3");
  CHECK(world.trace.jobs[2].duration == Seconds(100));
  CHECK(world.of == std::vector<std::uint32_t>{0, 1, 2, 3});
}

TEST_CASE("time limits: the job's own, a year when unlimited, else the run time as typed") {
  auto dump = crowded();
  dump.jobs[0].limit_kind = LimitKind::given;
  dump.jobs[0].limit = Seconds(7200);
  dump.jobs[1].limit_kind = LimitKind::unlimited;
  dump.jobs[2].limit_kind = LimitKind::partition;
  dump.jobs[3].end = at(130 + 7201);  // 2 h 1 s -> 3 h
  const RecordedCluster world = make_world(dump, infer_cluster(dump).value(), sample::same).value();
  CHECK(world.trace.columns.find(limit_column)->second ==
        std::vector<double>{7200, 365.0 * 86'400, 900, 10'800});
  CHECK(world.limits_given == 1);
  CHECK(world.limits_unlimited == 1);
  CHECK(world.limits_guessed == 2);
}

TEST_CASE("a dump without a job in the cluster is an error") {
  const auto dump = crowded();
  const InferredCluster other =
      map_cluster(dump, {{{.name = "q", .nodes = 1, .gpu_type = ""}}}).value();
  CHECK(make_world(dump, other, sample::same).error().message.contains("no job of the dump"));
}

}  // namespace schedmate::whatif
