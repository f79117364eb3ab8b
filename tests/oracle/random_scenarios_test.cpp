// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "scenario.hpp"
#include "simulated.hpp"
#include "tests/support/effort.hpp"

namespace oracle {
namespace {

constexpr std::uint64_t few = 1'000;
constexpr std::uint64_t all = 10'000;

/// "" or a report on the smallest input found.
std::string compare(std::uint64_t seed, Run run) {
  const TickInput input = random_scenario(seed);
  if (differences(input, run).empty()) return "";
  const auto differs = [&](const TickInput& smaller) { return !differences(smaller, run).empty(); };
  const TickInput smallest = shrink(input, differs);
  return "seed " + std::to_string(seed) + ", " + std::string(name_of(run.policy)) + ", mode " +
         std::string(name_of(run.mode)) + "\n" + listing(smallest) + differences(smallest, run);
}

/// Both modes; stops at the third difference.
void compare_seeds(TickPolicy policy, std::uint64_t seeds) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < seeds && found < 3; ++seed) {
    for (const Mode mode : {Mode::reference, Mode::repaired}) {
      const std::string report = compare(seed, {policy, mode});
      CHECK_MESSAGE(report.empty(), report);
      found += report.empty() ? 0 : 1;
    }
  }
}

void compare_all_policies(std::uint64_t seeds) {
  for (const TickPolicy policy : {TickPolicy::fifo, TickPolicy::sjf, TickPolicy::srtf,
                                  TickPolicy::qssf, TickPolicy::tiresias, TickPolicy::lucid}) {
    compare_seeds(policy, seeds);
  }
}

}  // namespace

TEST_SUITE("few scenarios") {
  TEST_CASE("the simulator and the tick model agree on 1,000 random scenarios") {
    compare_all_policies(schedmate::testing::cases(few));
  }

  TEST_CASE("random scenarios reach what they are to reach" *
            doctest::skip(schedmate::testing::sanitized)) {
    int packed = 0, unpacked = 0, preempted = 0, infeasible = 0, grown = 0, shrunk = 0, echoed = 0;
    int stalled = 0;
    for (std::uint64_t seed = 0; seed < few; ++seed) {
      const TickInput input = random_scenario(seed);
      const TickResult lucid = run_tick_model(input, TickPolicy::lucid, Mode::reference);
      const TickResult srtf = run_tick_model(input, TickPolicy::srtf, Mode::reference);
      for (std::size_t id = 0; id < input.jobs.size(); ++id) {
        const TickOutcome& out = lucid.outcomes[id];
        packed += out.packed_at > 0;
        unpacked += out.unpacked_at > 0 && out.unpacked_at < out.end;
        infeasible += out.status == TickStatus::infeasible;
        stalled += out.status == TickStatus::stalled;
        preempted += srtf.outcomes[id].preemptions > 0;
        const bool extra = std::ranges::any_of(
            out.nodes, [](const NodeGpus& node) { return node.label == extra_label; });
        echoed += extra && !out.finished_in_profiler;
      }
      for (const auto& [when, change] : lucid.scaling) ++(change > 0 ? grown : shrunk);
    }
    MESSAGE("packed " << packed << " restored " << unpacked << " preempted " << preempted
                      << " infeasible " << infeasible << " stalled " << stalled << " nodes added "
                      << grown << " removed " << shrunk << " jobs on an echoed node " << echoed);
    CHECK(packed > 100);
    CHECK(unpacked > 100);
    CHECK(preempted > 100);
    CHECK(infeasible > 100);
    CHECK(grown > 20);
    CHECK(shrunk > 10);
    CHECK(echoed > 0);
    CHECK(stalled > 0);
  }

  TEST_CASE("the shrinker keeps only the jobs that a difference needs") {
    const TickInput input = random_scenario(1);
    const auto wants_two = [&](const TickInput& smaller) {
      const auto has = [&](const TickJob& wanted) {
        return std::ranges::any_of(smaller.jobs, [&](const TickJob& job) {
          return job.estimate == wanted.estimate && job.submit == wanted.submit;
        });
      };
      return has(input.jobs.front()) && has(input.jobs.back());
    };
    REQUIRE(input.jobs.size() > 2);
    CHECK(shrink(input, wants_two).jobs.size() == 2);
  }
}

TEST_SUITE("all scenarios") {
  TEST_CASE("the simulator and the tick model agree on 10,000 random scenarios") {
    compare_all_policies(all);
  }
}

}  // namespace oracle
