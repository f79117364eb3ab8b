// SPDX-License-Identifier: Apache-2.0
#include "elastic/rigid_queue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/elastic_tables.hpp"
#include "tests/support/near.hpp"

namespace schedmate::elastic {
namespace {

using testing::made_application;
using testing::made_workload;
using testing::near;
using testing::small_cluster;

/// Jobs of these GPUs, one every `gap_s`, of the applications in turn.
ElasticWorkload asking(std::vector<Application> applications,
                       const std::vector<std::int32_t>& replicas, double gap_s) {
  ElasticWorkload workload =
      made_workload(std::move(applications), static_cast<int>(replicas.size()), gap_s);
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    workload.jobs[i].replicas = replicas[i];
    workload.jobs[i].kind = ElasticKind::rigid;
  }
  return workload;
}

/// Two jobs of many hours that fill the cluster, then ten of minutes.
ElasticWorkload long_jobs_first() {
  ElasticWorkload workload = asking({made_application("long", 9000), made_application("short", 60)},
                                    std::vector<std::int32_t>(12, 8), 60);
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    workload.jobs[i].application = i < 2 ? 0 : 1;
    if (i < 2) workload.jobs[i].replicas = 16;
  }
  return workload;
}

/// Capacities and restarting jobs are checked by run_rounds itself.
ElasticResult run_rigid(const ElasticWorkload& workload, const ElasticPolicy& policy) {
  auto result = run_rounds(workload, small_cluster(), policy, {});
  REQUIRE_MESSAGE(result.has_value(), result.error().message);
  REQUIRE(result->jobs.size() == workload.jobs.size());
  return *result;
}

double mean_jct_of(const ElasticResult& result) {
  double sum = 0;
  for (const ElasticOutcome& job : result.jobs) sum += job.completion_s - job.submit_s;
  return sum / static_cast<double>(result.jobs.size());
}

RigidPlaces places_for(std::int32_t replicas) {
  const ElasticWorkload workload = asking({made_application("a", 60)}, {replicas}, 0);
  return rigid_places(ElasticRun(workload.jobs[0], workload.applications[0]), small_cluster());
}

TEST_CASE("a rigid job takes whole nodes and the rest on one more, where that was measured") {
  // The tables have parts of one node, and whole ones: 4 x 4 slow GPUs and 2 x 8 fast ones.
  const RigidPlaces three = places_for(3);
  CHECK(three[0]->at == Assignment{0, {3}});
  CHECK(three[1]->at == Assignment{1, {3}});
  CHECK(near(three[1]->steps_per_s, 2 * three[0]->steps_per_s, 1e-12, 0));
  const RigidPlaces six = places_for(6);
  CHECK_FALSE(six[0].has_value());  // 4 + 2 was not measured
  CHECK(six[1]->at == Assignment{1, {6}});
  const RigidPlaces twelve = places_for(12);
  CHECK(twelve[0]->at == Assignment{0, {4, 4, 4}});
  CHECK_FALSE(twelve[1].has_value());
}

TEST_CASE("a rigid job that fits nowhere as it is runs on the most GPUs on which it can") {
  const RigidPlaces odd = places_for(14);
  CHECK(odd[0]->at == Assignment{0, {4, 4, 4}});
  CHECK_FALSE(odd[1].has_value());
  const RigidPlaces huge = places_for(100);
  CHECK(huge[0]->at == Assignment{0, {4, 4, 4, 4}});
  CHECK(huge[1]->at == Assignment{1, {8, 8}});
  const ElasticWorkload workload = asking({made_application("a", 60)}, {14, 100, 14}, 60);
  for (const ElasticPolicy& policy : {elastic_fifo_policy(), elastic_srtf_policy()})
    CHECK(run_rigid(workload, policy).jobs.size() == 3);
}

TEST_CASE("the time that remains is what the simulation takes, on each type and from anywhere") {
  for (const double length : {1.0, 0.37}) {
    for (const std::uint16_t type : {std::uint16_t{0}, std::uint16_t{1}}) {
      ElasticWorkload workload = asking({made_application("a", 300)}, {4}, 0);
      workload.jobs[0].length = length;
      std::vector<double> ends;  // as predicted in each round in which it trains
      const auto policy = [&](const ElasticView& view) {
        const ElasticRun& run = *view.active[0];
        const RigidPlaces places = rigid_places(run, view.cluster);
        if (run.runs() && !run.pinned())
          ends.push_back(view.now_s + remaining_s(run, *places[type]));
        ElasticPlan plan{{places[type]->at}, {{}}};
        return plan;
      };
      const double end = run_rigid(workload, policy).jobs[0].completion_s;
      REQUIRE(ends.size() > 10);
      // The simulation rounds each epoch's end to a second.
      for (const double predicted : ends) CHECK(std::abs(predicted - end) < 6);
    }
  }
}

TEST_CASE("elastic fifo: in order of submission, and whoever finds no room holds up the rest") {
  const ElasticWorkload workload =
      asking({made_application("a", 120)}, {16, 8, 16, 1, 1, 4, 8, 2, 16, 1}, 60);
  bool blocked = false;
  ElasticPolicy policy = elastic_fifo_policy();
  const auto watched = [&](const ElasticView& view) {
    const ElasticPlan plan = policy(view);
    bool waits = false;
    for (std::size_t i = 0; i < plan.held.size(); ++i) {
      const bool none = plan.held[i].placement.empty();
      if (view.active[i]->runs()) CHECK(plan.held[i] == view.active[i]->held());
      if (waits) CHECK(none);
      waits = waits || none;
      blocked = blocked || (waits && i + 1 < plan.held.size());
    }
    return plan;
  };
  const ElasticResult result = run_rigid(workload, watched);
  CHECK(blocked);
  for (std::size_t i = 1; i < result.jobs.size(); ++i)
    CHECK(result.jobs[i].start_s >= result.jobs[i - 1].start_s);
  for (const ElasticOutcome& job : result.jobs) CHECK(job.restarts == 0);
}

TEST_CASE("elastic fifo: of the types with room the fastest") {
  const ElasticWorkload workload = asking({made_application("a", 120)}, {16, 16}, 0);
  const ElasticResult result = run_rigid(workload, elastic_fifo_policy());
  CHECK(result.jobs[0].completion_s < result.jobs[1].completion_s);
  CHECK(result.jobs[0].start_s == result.jobs[1].start_s);
}

TEST_CASE("elastic srtf: short jobs don't wait for long ones") {
  const ElasticWorkload workload = long_jobs_first();
  const ElasticResult fifo = run_rigid(workload, elastic_fifo_policy());
  const ElasticResult srtf = run_rigid(workload, elastic_srtf_policy());
  CHECK(mean_jct_of(srtf) < 0.5 * mean_jct_of(fifo));
  CHECK(srtf.jobs[0].restarts + srtf.jobs[1].restarts > 0);
}

TEST_CASE("elastic srtf: no move that saves less than its restart takes") {
  ElasticWorkload workload =
      asking({made_application("a", 90), made_application("b", 30)},
             {16, 8, 8, 8, 4, 16, 8, 4, 8, 8, 16, 4, 8, 8, 1, 8, 16, 2}, 200);
  for (Application& application : workload.applications) application.traits.restart_s = 60;
  ElasticPolicy policy = elastic_srtf_policy();
  int moves = 0;
  const auto watched = [&](const ElasticView& view) {
    const ElasticPlan plan = policy(view);
    for (std::size_t i = 0; i < plan.held.size(); ++i) {
      const ElasticRun& run = *view.active[i];
      if (run.pinned()) CHECK(plan.held[i] == run.held());
      if (!run.runs() || run.pinned() || plan.held[i].placement.empty()) continue;
      const RigidPlaces places = rigid_places(run, view.cluster);
      const double here_s = remaining_s(run, *places[run.held().type]);
      const double there_s = remaining_s(run, *places[1]);
      if (plan.held[i].type == 1 && run.held().type == 0) {
        CHECK(here_s - there_s > run.application().traits.restart_s);
        ++moves;
      }
    }
    return plan;
  };
  run_rigid(workload, watched);
  CHECK(moves > 0);
}

TEST_CASE("elastic srtf: a job stays on the slower type if a restart is dearer than it saves") {
  // Both start at once; when the one on the fast type ends, the other has as long to go where it
  // is.
  for (const double restart_s : {30.0, 3000.0}) {
    ElasticWorkload workload = asking({made_application("a", 600)}, {16, 16}, 0);
    workload.applications[0].traits.restart_s = restart_s;
    const ElasticResult result = run_rigid(workload, elastic_srtf_policy());
    CHECK(result.jobs[0].restarts == 0);
    CHECK(result.jobs[1].restarts == (restart_s < 1000 ? 1 : 0));
  }
}

TEST_CASE("fifo and srtf: equal inputs give equal results") {
  const ElasticWorkload workload = long_jobs_first();
  for (const auto make : {elastic_fifo_policy, elastic_srtf_policy}) {
    const ElasticResult first = run_rigid(workload, make());
    const ElasticResult again = run_rigid(workload, make());
    for (std::size_t i = 0; i < first.jobs.size(); ++i)
      CHECK(first.jobs[i].completion_s == again.jobs[i].completion_s);
  }
}

}  // namespace
}  // namespace schedmate::elastic
