// SPDX-License-Identifier: Apache-2.0
#include "elastic/rounds.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "elastic/bootstrap.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/elastic_tables.hpp"
#include "tests/support/near.hpp"

namespace schedmate::elastic {
namespace {

using testing::made_application;
using testing::made_workload;
using testing::near;
using testing::small_cluster;

/// Every job gets the same GPUs, the earlier ones first.
ElasticPolicy always(const Assignment& what, std::size_t most) {
  return [=](const ElasticView& view) {
    ElasticPlan plan{std::vector<Assignment>(view.active.size()),
                     std::vector<std::vector<std::uint16_t>>(view.active.size())};
    for (std::size_t i = 0; i < std::min(most, view.active.size()); ++i) plan.held[i] = what;
    return plan;
  };
}

ElasticResult run_always(const ElasticWorkload& workload, const Assignment& what,
                         std::size_t most = 1) {
  auto result = run_rounds(workload, small_cluster(), always(what, most), {});
  REQUIRE_MESSAGE(result.has_value(), result.error().message);
  return *result;
}

TEST_CASE("a job alone takes a round to be seen, its restart and its training") {
  const ElasticWorkload workload = made_workload({made_application("a", 60)}, 1, 0);
  const ElasticResult result = run_always(workload, {1, {1}});
  REQUIRE(result.jobs.size() == 1);
  const ElasticOutcome& job = result.jobs[0];
  CHECK(job.start_s == 60);
  CHECK(job.restarts == 0);
  // 60 s until the first decision, 30 s restart, then an hour at 64 samples a step or better.
  CHECK(job.completion_s > 60 + 30 + 600);
  CHECK(job.completion_s < 60 + 30 + 3700);
  CHECK(near(job.spent.held(), job.completion_s - job.start_s, 1e-12, 0));
}

TEST_CASE("what is slower by a factor takes longer by it") {
  const ElasticWorkload workload = made_workload({made_application("a", 60)}, 1, 0);
  const double fast_s = run_always(workload, {1, {1}}).jobs[0].completion_s - 90;
  const double slow_s = run_always(workload, {0, {1}}).jobs[0].completion_s - 90;
  CHECK(near(slow_s / fast_s, 2, 0.01, 0));
}

TEST_CASE("moving costs a restart each time and keeps the progress to the second") {
  const ElasticWorkload workload = made_workload({made_application("a", 60)}, 1, 0);
  const double still_s = run_always(workload, {1, {1}}).jobs[0].completion_s;
  const ElasticPolicy moves = [](const ElasticView& view) {
    // Between two equal nodes of the same type it does not move; to two GPUs and back it does.
    const bool wide = view.now_s >= 600 && view.now_s < 660;
    ElasticPlan plan{{Assignment{1, GpusByNode{wide ? 2 : 1}}}, {{}}};
    return plan;
  };
  auto moved = run_rounds(workload, small_cluster(), moves, {});
  REQUIRE(moved.has_value());
  CHECK(moved->jobs[0].restarts == 2);
  // Two restarts of 30 s, and half a minute on two GPUs, which are at most twice as fast.
  const double later_s = moved->jobs[0].completion_s - still_s;
  CHECK(later_s > 60 - 2 * 30 - 2);
  CHECK(later_s <= 60);
}

TEST_CASE("a suspended job stands still and pays when it comes back") {
  const ElasticWorkload workload = made_workload({made_application("a", 30)}, 1, 0);
  const double still_s = run_always(workload, {1, {1}}).jobs[0].completion_s;
  const ElasticPolicy pauses = [](const ElasticView& view) {
    const bool away = view.now_s >= 300 && view.now_s < 900;
    return ElasticPlan{{away ? Assignment{} : Assignment{1, {1}}}, {{}}};
  };
  auto result = run_rounds(workload, small_cluster(), pauses, {});
  REQUIRE(result.has_value());
  CHECK(result->jobs[0].restarts == 1);
  CHECK(std::abs(result->jobs[0].completion_s - still_s - 600 - 30) <=
        10);  // whole seconds an epoch
}

TEST_CASE("a step time that nobody measured names what is missing") {
  const ElasticWorkload workload = made_workload({made_application("a", 30)}, 1, 0);
  const auto result = run_rounds(workload, small_cluster(), always({1, {3, 5}}, 1), {});
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().message.contains("application a"));
  CHECK(result.error().message.contains("as 35"));
}

TEST_CASE("a policy that never starts a job is given up, not waited for") {
  const ElasticWorkload workload = made_workload({made_application("a", 30)}, 1, 0);
  ElasticOptions options;
  options.longest_s = 86'400;
  const auto result = run_rounds(workload, small_cluster(), always({1, {1}}, 0), options);
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().message.contains("1 jobs are not done"));
}

TEST_CASE("a job that ends early trains for that share") {
  ElasticWorkload workload = made_workload({made_application("a", 60)}, 1, 0);
  const double whole_s = run_always(workload, {1, {1}}).jobs[0].completion_s - 90;
  workload.jobs[0].length = 0.25;
  const double part_s = run_always(workload, {1, {1}}).jobs[0].completion_s - 90;
  CHECK(part_s < 0.4 * whole_s);
  CHECK(part_s > 0.1 * whole_s);
}

/// Asks for the profiles in turn, then runs alone on a fast GPU.
ElasticPlan measured_then_alone(const ElasticView& view) {
  ElasticPlan plan{{Assignment{}}, {{}}};
  const auto slots = view.active[0]->profile_slots();
  if (slots.empty())
    plan.held[0] = {1, {1}};
  else
    plan.measured[0] = {slots[0].type};
  return plan;
}

TEST_CASE("a job that is measured first trains later, and is known on every type by then") {
  const ElasticWorkload workload = made_workload({made_application("a", 30)}, 1, 0);
  const double plain_s = run_always(workload, {1, {1}}).jobs[0].completion_s;
  ElasticOptions options;
  options.admit = bootstrap({.profile_s = 120});
  bool known = false;
  const auto policy = [&](const ElasticView& view) {
    const ElasticRun& run = *view.active[0];
    if (run.profile_slots().empty())
      known = run.noise() && std::ranges::all_of(run.profiles(), [](const TypeProfile& profile) {
                return profile.model.has_value();
              });
    return measured_then_alone(view);
  };
  const auto result = run_rounds(workload, small_cluster(), policy, options);
  REQUIRE(result.has_value());
  CHECK(known);
  CHECK(result->jobs[0].restarts == 0);
  CHECK(result->jobs[0].completion_s >= plain_s + 2 * 120 - 120);
  CHECK(result->jobs[0].completion_s <= plain_s + 2 * 120 + 60);
}

TEST_CASE("progress is conserved over restarts: a training takes the same seconds in pieces") {
  const ElasticWorkload workload = made_workload({made_application("a", 120)}, 1, 0);
  const ElasticOutcome whole = run_always(workload, {1, {1}}).jobs[0];
  for (std::uint64_t seed = 1; seed <= testing::cases(20); ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const auto now_and_then = [&](const ElasticView& view) {
      const bool runs = view.active[0]->pinned() || random.below(3) > 0;
      return ElasticPlan{{runs ? Assignment{1, {1}} : Assignment{}}, {{}}};
    };
    const auto pieces = run_rounds(workload, small_cluster(), now_and_then, {});
    REQUIRE(pieces.has_value());
    const ElasticOutcome& job = pieces->jobs[0];
    CHECK(job.restarts > 5);
    // Ends of epochs are rounded to seconds; there are ten.
    CHECK(std::abs(job.spent.training - whole.spent.training) <= 10);
    const double restart_s = workload.applications[0].traits.restart_s;
    CHECK(near(job.spent.restarting, (job.restarts + 1) * restart_s, 1e-12, 0));
  }
}

}  // namespace
}  // namespace schedmate::elastic
