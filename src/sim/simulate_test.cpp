// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <atomic>
#include <schedmate/sim.hpp>
#include <set>

#include "tests/support/estimators.hpp"
#include "tests/support/small.hpp"

namespace schedmate::sim {
namespace {

using testing::small_cluster;
using testing::small_trace;
using testing::SmallJob;

Scheduler first_come() {
  Scheduler scheduler;
  scheduler.decide = [queue = std::set<JobId>()](const View& view, Plan& plan) mutable {
    queue.insert(view.arrived.begin(), view.arrived.end());
    while (!queue.empty() && plan.start(*queue.begin(), view.job(*queue.begin()).gpus)) {
      queue.erase(queue.begin());
    }
  };
  return scheduler;
}

TEST_CASE("virtual clusters do not wait for each other") {
  const Trace trace = small_trace({{0, 8, 100, 0}, {1, 8, 10, 0}, {2, 8, 10, 1}});
  const SimResult result = simulate(trace, small_cluster({1, 1}), first_come(), {}).value();
  CHECK(result.outcomes[1].start == at(100));
  CHECK(result.outcomes[2].start == at(2));
  CHECK(result.total_gpus == 16);
}

TEST_CASE("jobs of a VC that the cluster does not have are infeasible") {
  const Trace trace = small_trace({{0, 1, 10, 0}, {0, 1, 10, 1}, {0, 1, 10, 2}});
  const SimResult result = simulate(trace, small_cluster({1, 1}), first_come(), {}).value();
  CHECK(result.outcomes[1].status == JobStatus::finished);
  CHECK(result.outcomes[2].status == JobStatus::infeasible);
}

TEST_CASE("a cluster of one VC takes the jobs of every queue of the trace") {
  ClusterSpec cluster = small_cluster({1});
  cluster.partitions[0].name = "pool";
  const Trace trace = small_trace({{0, 8, 10, 0}, {0, 8, 10, 1}});
  const SimResult result = simulate(trace, cluster, first_come(), {}).value();
  CHECK(result.outcomes[1].start == at(10));
}

TEST_CASE("a cluster without any VC of the trace is an error that names both") {
  ClusterSpec cluster = small_cluster({1, 1});
  cluster.partitions[0].name = "other";
  cluster.partitions[1].name = "another";
  const auto result = simulate(small_trace({{0, 1, 1}}), cluster, first_come(), {});
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().code == ErrorCode::invalid);
  CHECK(result.error().message.find("'vc0'") != std::string::npos);
  CHECK(result.error().message.find("'other'") != std::string::npos);
}

TEST_CASE("a trace without jobs gives an empty result") {
  const SimResult result = simulate(Trace(), small_cluster({1}), first_come(), {}).value();
  CHECK(result.outcomes.empty());
  CHECK(result.timeline.peak_queue == 0);
}

TEST_CASE("progress is reported up to the number of jobs") {
  std::vector<SmallJob> jobs(5000, SmallJob{.gpus = 8, .duration_s = 1});
  SimOptions options;
  double last = 0;
  int calls = 0;
  options.progress = [&](double done) {
    last = done;
    ++calls;
  };
  CHECK(simulate(small_trace(jobs), small_cluster({1}), first_come(), options).has_value());
  CHECK(last == 1);
  CHECK(calls == 100);
}

/// Short jobs end in a profiler of one borrowed node, first come, first served.
Scheduler with_profiler() {
  Scheduler scheduler = first_come();
  ProfilerStage stage;
  stage.decide = scheduler.decide;
  stage.time = Seconds(100);
  stage.max_gpus = 8;
  stage.nodes.nodes = 1;
  stage.lenders = {"vc0"};
  scheduler.profiler = stage;
  return scheduler;
}

TEST_CASE("jobs that are short enough end in the profiler, others enter their VC when measured") {
  // Profiler: j0 0-60 done; j1 60-160; j2 is too large to profile. VC: one of two nodes is left.
  const Trace trace = small_trace({{0, 8, 60}, {0, 8, 300}, {0, 16, 50}, {0, 9, 5}});
  const SimResult result = simulate(trace, small_cluster({3}), with_profiler(), {}).value();
  CHECK(result.outcomes[0].finished_in_profiler);
  CHECK(result.outcomes[0].end == at(60));
  CHECK(result.outcomes[1].profiled);
  CHECK(result.outcomes[1].profiler_queue == Seconds(60));
  CHECK(result.outcomes[1].queue == Seconds(60));
  CHECK(result.outcomes[1].start == at(160));
  CHECK(result.outcomes[1].end == at(460));
  CHECK_FALSE(result.outcomes[2].profiled);
  CHECK(result.outcomes[2].end == at(50));
  CHECK(result.outcomes[3].start == at(50));
}

TEST_CASE("as released a job enters its VC at submission, and its queue counts the profiler's") {
  SimOptions options;
  options.defects.entry_at_submission = true;
  const Trace trace = small_trace({{0, 8, 60}, {0, 8, 300}});
  const SimResult early = simulate(trace, small_cluster({2}), with_profiler(), options).value();
  CHECK(early.outcomes[1].start == at(0));
  CHECK(early.outcomes[1].queue == Seconds(0));
  options.defects.double_counted_queue = true;
  const SimResult twice = simulate(trace, small_cluster({2}), with_profiler(), options).value();
  CHECK(twice.outcomes[1].queue == Seconds(60));
}

TEST_CASE("what ended in the profiler is known to the estimator of its VC") {
  std::vector<std::int64_t> known;
  SimOptions options;
  options.estimator = testing::CountsEnds{known};
  // j0 ends in the profiler at 60; j1 (16 GPUs) enters its VC at 59, j2 at 60.
  const Trace trace = small_trace({{0, 8, 60}, {59, 16, 10}, {60, 16, 10}});
  CHECK(simulate(trace, small_cluster({3}), with_profiler(), options).has_value());
  CHECK(known == std::vector<std::int64_t>{0, 1});
}

TEST_CASE("every decision point is shown to the observer, the profiler's too") {
  std::set<std::string> seen;
  std::size_t moments = 0;
  SimOptions options;
  options.observer = [&](const SimOptions::Moment& moment) {
    ++moments;
    seen.insert(moment.vc);
    moment.standing.for_each([&](JobId id, const JobStanding& standing) {
      const bool holds = !moment.cluster.allocation(id).empty();
      CHECK(holds == (standing.phase == JobPhase::running));
    });
  };
  const Trace trace = small_trace({{0, 8, 60}, {0, 8, 300}, {5, 16, 10}});
  const SimResult result = simulate(trace, small_cluster({3}), with_profiler(), options).value();
  CHECK(moments == result.decision_points);
  CHECK(seen.contains("vc0"));
  CHECK(seen.size() == 2);
}

}  // namespace
}  // namespace schedmate::sim
