// SPDX-License-Identifier: Apache-2.0
/// Odd policies as instruments: they do what no sane one does, and the simulator copes.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <set>

#include "tests/conformance/properties.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/need.hpp"
#include "tests/support/small.hpp"

namespace schedmate::conformance {
namespace {

SimResult replay_with(const World& world, Policy policy) {
  Scheduler scheduler;
  scheduler.decide = std::move(policy);
  return testing::need(simulate(world.trace, world.cluster, scheduler, {}));
}

TEST_CASE("none starts nothing: every job is reported as stalled, even if it wakes every second") {
  for (std::uint64_t seed = 0; seed < testing::cases(20); ++seed) {
    const World world = random_world(seed);
    for (const JobOutcome& job : replay_with(world, [](const View&, Plan&) {}).outcomes) {
      CHECK(job.status != JobStatus::finished);
      CHECK_FALSE(job.started);
    }
  }
  const World small{testing::small_trace({{0, 1, 10}}), testing::small_cluster({1})};
  const SimResult result =
      replay_with(small, [](const View& view, Plan& plan) { plan.wake_at(view.now + Seconds(1)); });
  CHECK(result.outcomes[0].status == JobStatus::stalled);
}

TEST_CASE("reject refuses gangs: they are stalled, the others end") {
  const World world{testing::small_trace({{0, 16, 10}, {1, 8, 10}, {2, 9, 10}, {30, 1, 10}}),
                    testing::small_cluster({2})};
  const SimResult result = replay_with(world, [](const View& view, Plan& plan) {
    for (const JobId id : view.arrived) {
      if (view.job(id).gpus <= 8) plan.start(id, view.job(id).gpus);
    }
  });
  CHECK(result.outcomes[0].status == JobStatus::stalled);
  CHECK(result.outcomes[1].status == JobStatus::finished);
  CHECK(result.outcomes[2].status == JobStatus::stalled);
  CHECK(result.outcomes[3].end == at(40));
}

TEST_CASE("one_by_one never runs two jobs at once, and all end") {
  for (std::uint64_t seed = 0; seed < testing::cases(30); ++seed) {
    CAPTURE(seed);
    World world = random_world(seed);
    world.cluster.partitions.resize(1);
    world.trace.vcs.resize(1);
    for (Job& job : world.trace.jobs) job.vc = 0;
    std::size_t running = 0;
    const SimResult result =
        replay_with(world, [&, queue = std::set<JobId>()](const View& view, Plan& plan) mutable {
          queue.insert(view.arrived.begin(), view.arrived.end());
          running -= view.ended.size();
          if (running > 0 || queue.empty()) return;
          REQUIRE(plan.start(*queue.begin(), view.job(*queue.begin()).gpus));
          queue.erase(queue.begin());
          ++running;
        });
    std::vector<std::pair<SimTime, SimTime>> runs;
    for (const JobOutcome& job : result.outcomes) {
      if (job.status == JobStatus::infeasible) continue;
      REQUIRE(job.status == JobStatus::finished);
      runs.emplace_back(job.start, job.end);
    }
    std::ranges::sort(runs);
    for (std::size_t i = 1; i < runs.size(); ++i) REQUIRE(runs[i].first >= runs[i - 1].second);
  }
}

/// Takes every job off its GPUs each second until `end`, and puts back what fits, oldest first.
struct Thrash {
  SimTime end;
  std::set<JobId> alive;

  void operator()(const View& view, Plan& plan) {
    for (const JobId id : view.ended) alive.erase(id);
    alive.insert(view.arrived.begin(), view.arrived.end());
    const bool again = view.now <= end;
    for (const JobId id : alive) {
      if (again && view.job(id).running) plan.preempt(id);
    }
    for (const JobId id : alive) {
      if (again || !view.job(id).running) plan.start(id, view.job(id).gpus);
    }
    if (again) plan.wake_at(view.now + Seconds(1));
  }
};

TEST_CASE("thrash for a while: every preemption costs its 40 s, and all jobs end") {
  const World world{testing::small_trace({{0, 8, 100}, {0, 8, 50}}), testing::small_cluster({1})};
  const SimResult result = replay_with(world, Thrash{at(10), {}});
  // j0 is preempted at 1, 2, ..., 10: 100 + 10 x 40 = 500 s, without a pause.
  CHECK(result.outcomes[0].preemptions == 10);
  CHECK(result.outcomes[0].end == at(500));
  CHECK(result.outcomes[0].queue == Seconds(0));
  CHECK(result.outcomes[1].start == at(500));
  CHECK(result.outcomes[1].end == at(550));
}

TEST_CASE("thrash forever is given up and reported as a stall") {
  const World world{testing::small_trace({{0, 8, 100}, {0, 8, 50}}), testing::small_cluster({1})};
  const SimResult result = replay_with(world, Thrash{never - Seconds(1), {}});
  CHECK(result.outcomes[0].status == JobStatus::stalled);
  CHECK(result.outcomes[0].preemptions > 1000);
  CHECK(result.outcomes[1].status == JobStatus::stalled);
}

}  // namespace
}  // namespace schedmate::conformance
