// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <schedmate/sim.hpp>

#include "policy/gittins.hpp"
#include "tests/support/small.hpp"

namespace schedmate::policy {
namespace {

using testing::small_cluster;
using testing::small_trace;
using testing::SmallJob;
using Settings = std::map<std::string, std::string, std::less<>>;

SimResult preempted(const std::vector<SmallJob>& jobs, Settings settings) {
  const Trace trace = small_trace(jobs);
  const ClusterSpec cluster = small_cluster({1});
  const Scheduler scheduler =
      make_scheduler("schedmate_preemptive", {cluster}, PolicyOptions(std::move(settings))).value();
  return simulate(trace, cluster, scheduler, {}).value();
}

TEST_CASE("a job that is certain ranks by what it has left, an uncertain one that outlives sinks") {
  const GittinsTable certain(0.1);
  CHECK(certain.rank(1000, 0) > 900);
  CHECK(certain.rank(1000, 900) < 300);
  const GittinsTable uncertain(3);
  CHECK(uncertain.rank(1000, 10) < uncertain.rank(1000, 1000));
  CHECK(uncertain.rank(1000, 1000) < uncertain.rank(1000, 100'000));
  // The unit of time does not matter, and a longer estimate never ranks before a shorter one.
  CHECK(uncertain.rank(2000, 500) > 1.99 * uncertain.rank(1000, 250));
  CHECK(uncertain.rank(2000, 500) < 2.01 * uncertain.rank(1000, 250));
  CHECK(uncertain.rank(2000, 0) > uncertain.rank(1000, 0));
}

TEST_CASE("a short job stops a long one, which goes on with its progress and the restart's cost") {
  const SimResult result = preempted({{0, 8, 10'000}, {100, 8, 10}}, {});
  CHECK(result.outcomes[1].start == at(100));
  CHECK(result.outcomes[0].preemptions == 1);
  CHECK(result.outcomes[0].end == at(10'000 + 10 + 40));
}

TEST_CASE("within a level those that run stay") {
  const SimResult result = preempted({{0, 8, 1000}, {100, 8, 1000}}, {{"spread", "0.1"}});
  CHECK(result.outcomes[0].preemptions == 0);
  CHECK(result.outcomes[1].start == at(1000));
}

TEST_CASE("without checkpoints nobody is stopped: it is schedmate, with its settings") {
  const SimResult result =
      preempted({{0, 8, 10'000}, {100, 8, 10}}, {{"checkpoints", "false"}, {"ageing", "0.5"}});
  CHECK(result.outcomes[0].preemptions == 0);
  CHECK(result.outcomes[1].start == at(10'000));
}

TEST_CASE("settings that make no sense are errors that say so") {
  const ClusterSpec cluster = small_cluster({1});
  for (const auto& [key, value] : Settings{{"spread", "0"}, {"levels", "1"}, {"interval_s", "0"}}) {
    const auto made =
        make_scheduler("schedmate_preemptive", {cluster}, PolicyOptions(Settings{{key, value}}));
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().message.find(fmt::format("{}={}", key, value)) != std::string::npos);
  }
}

}  // namespace
}  // namespace schedmate::policy
