// SPDX-License-Identifier: Apache-2.0
#include "sim/engine.hpp"

#include <doctest/doctest.h>

#include <set>

#include "tests/support/estimators.hpp"
#include "tests/support/near.hpp"
#include "tests/support/small.hpp"

namespace schedmate::sim {
namespace {

using testing::job;
using testing::near;
using testing::small_cluster;
using testing::small_trace;

SimResult replay(const Trace& trace, const ClusterSpec& cluster, Policy policy,
                 const SimOptions& options = {}) {
  Scheduler scheduler;
  scheduler.decide = std::move(policy);
  scheduler.counts_down = true;
  return simulate(trace, cluster, scheduler, options).value();
}

/// Starts whatever fits, in order of entry.
struct Greedy {
  std::set<JobId> queue;
  void operator()(const View& view, Plan& plan) {
    queue.insert(view.arrived.begin(), view.arrived.end());
    std::erase_if(queue, [&](JobId id) { return plan.start(id, view.job(id).gpus); });
  }
};

std::vector<std::int64_t> starts(const SimResult& result) {
  std::vector<std::int64_t> times;
  for (const JobOutcome& outcome : result.outcomes) times.push_back(seconds_of(outcome.start));
  return times;
}

std::vector<std::int64_t> ends(const SimResult& result) {
  std::vector<std::int64_t> times;
  for (const JobOutcome& outcome : result.outcomes) times.push_back(seconds_of(outcome.end));
  return times;
}

TEST_CASE("GPUs freed at an instant serve a job at that instant, also one that arrives then") {
  const Trace trace = small_trace({{0, 8, 10}, {3, 8, 5}, {15, 8, 1}});
  const SimResult result = replay(trace, small_cluster({1}), Greedy{});
  CHECK(starts(result) == std::vector<std::int64_t>{0, 10, 15});
  CHECK(ends(result) == std::vector<std::int64_t>{10, 15, 16});
  CHECK(result.outcomes[1].queue == Seconds(7));
  CHECK(result.outcomes[2].queue == Seconds(0));
}

TEST_CASE("with rounds of a minute a job ends in time but the next one starts at a whole minute") {
  ClusterSpec cluster = small_cluster({1});
  cluster.partitions[0].round = Seconds(60);
  const Trace trace = small_trace({{10, 8, 100}, {20, 8, 30}, {300, 8, 5}});
  const SimResult result = replay(trace, cluster, Greedy{});
  // Decisions at 60 (first starts), 180 (it ended at 160), 300.
  CHECK(starts(result) == std::vector<std::int64_t>{60, 180, 300});
  CHECK(ends(result) == std::vector<std::int64_t>{160, 210, 305});
  // Busy 60-160, 180-210, 300-305 of the bins [10, 70), [70, 130), ...: 10 s of 8 GPUs in the
  // first.
  CHECK(near(result.timeline.bins[0].busy_gpus, 8.0 * 10 / 60, 1e-12, 0));
  CHECK(near(result.timeline.bins[2].busy_gpus, 8.0 * (30 + 10) / 60, 1e-12, 0));
}

TEST_CASE("a job without duration starts and ends in the same second and frees its GPUs") {
  const Trace trace = small_trace({{5, 8, 0}, {5, 8, 0}, {5, 8, 3}});
  const SimResult result = replay(trace, small_cluster({1}), Greedy{});
  CHECK(starts(result) == std::vector<std::int64_t>{5, 5, 5});
  CHECK(ends(result) == std::vector<std::int64_t>{5, 5, 8});
}

TEST_CASE("jobs that nobody starts are reported as stalled, and the replay ends") {
  const Trace trace = small_trace({{0, 1, 10}, {5, 1, 10}});
  const SimResult result = replay(trace, small_cluster({1}), [](const View&, Plan&) {});
  for (const JobOutcome& outcome : result.outcomes) {
    CHECK(outcome.status == JobStatus::stalled);
    CHECK_FALSE(outcome.started);
  }
  CHECK(result.timeline.peak_queue == 2);
}

TEST_CASE("a job larger than its VC is infeasible, never queued, and in nobody's way") {
  const Trace trace = small_trace({{0, 17, 10}, {0, 16, 10}});
  const SimResult result = replay(trace, small_cluster({2}), Greedy{});
  CHECK(result.outcomes[0].status == JobStatus::infeasible);
  CHECK(result.outcomes[1].status == JobStatus::finished);
  CHECK(result.outcomes[1].start == at(0));
  CHECK(result.timeline.peak_queue == 0);
}

TEST_CASE("ends come before arrivals, arrivals in order of entry, ends in order of start") {
  struct Seen {
    std::vector<std::vector<JobId>> arrived, ended;
  } seen;
  const Trace trace = small_trace({{0, 1, 10}, {0, 1, 10}, {10, 1, 1}, {10, 1, 1}});
  replay(trace, small_cluster({1}), [&, greedy = Greedy{}](const View& view, Plan& plan) mutable {
    seen.arrived.emplace_back(view.arrived.begin(), view.arrived.end());
    seen.ended.emplace_back(view.ended.begin(), view.ended.end());
    greedy(view, plan);
  });
  REQUIRE(seen.arrived.size() == 3);
  CHECK(seen.arrived[0] == std::vector{job(0), job(1)});
  CHECK(seen.ended[1] == std::vector{job(0), job(1)});
  CHECK(seen.arrived[1] == std::vector{job(2), job(3)});
  CHECK(seen.ended[2] == std::vector{job(2), job(3)});
}

/// Lets the newest job push the oldest off the only node.
struct NewestFirst {
  std::optional<JobId> running, waiting;
  void operator()(const View& view, Plan& plan) {
    if (!view.ended.empty()) running.reset();
    for (const JobId id : view.arrived) {
      if (running) {
        plan.preempt(*running);
        waiting = running;
      }
      running = id;
      plan.start(id, view.job(id).gpus);
    }
    if (!running && waiting) {
      running = std::exchange(waiting, std::nullopt);
      plan.start(*running, view.job(*running).gpus);
    }
  }
};

TEST_CASE("a preemption adds its cost to the run time, and all waits add up") {
  // j0 runs 0-30, waits while j1 runs 30-50, then 70 left + 40 for the preemption: 50-160.
  const Trace trace = small_trace({{0, 8, 100}, {30, 8, 20}});
  const SimResult result = replay(trace, small_cluster({1}), NewestFirst{});
  CHECK(ends(result) == std::vector<std::int64_t>{160, 50});
  CHECK(result.outcomes[0].preemptions == 1);
  CHECK(result.outcomes[0].start == at(0));
  CHECK(result.outcomes[0].queue == Seconds(20));
  // Above 8 GPUs a preemption costs 60.
  const Trace large = small_trace({{0, 16, 100}, {30, 16, 20}});
  CHECK(ends(replay(large, small_cluster({2}), NewestFirst{}))[0] == 180);
}

TEST_CASE("late_end lets every run end a second later, a preempted one only once") {
  SimOptions options;
  options.defects.late_end = true;
  const Trace trace = small_trace({{0, 8, 100}, {30, 8, 20}});
  const SimResult result = replay(trace, small_cluster({1}), NewestFirst{}, options);
  // j1 ends at 51; j0 continues 51 with 70 + 40 left and ends at 51 + 110 + 1.
  CHECK(ends(result) == std::vector<std::int64_t>{162, 51});
}

TEST_CASE("what a policy may know of a job follows its runs") {
  std::vector<Seconds> run_times;
  std::vector<double> remaining;
  const Trace trace = small_trace({{0, 8, 100}, {30, 8, 20}, {80, 1, 1}});
  replay(trace, small_cluster({2}), [&, policy = NewestFirst{}](const View& v, Plan& plan) mutable {
    run_times.push_back(v.job(job(0)).run_time(v.now));
    remaining.push_back(v.job(job(0)).remaining(v.now).count());
    if (seconds_of(v.now) < 60) policy(v, plan);
  });
  // At 0, 30, 50 and 80: run 0, 30, 30, 60; 40 more to do since the preemption at 30.
  REQUIRE(run_times.size() >= 4);
  CHECK(run_times[1] == Seconds(30));
  CHECK(run_times[2] == Seconds(30));
  CHECK(run_times[3] == Seconds(60));
  CHECK(remaining[0] == 100);
  CHECK(remaining[1] == 70);
  CHECK(remaining[2] == 110);
  CHECK(remaining[3] == 80);
}

TEST_CASE("a policy that asks to be called is called then, rounded up and never in the past") {
  std::vector<std::int64_t> calls;
  ClusterSpec cluster = small_cluster({1});
  cluster.partitions[0].round = Seconds(10);
  const Trace trace = small_trace({{3, 1, 1}});
  replay(trace, cluster, [&](const View& view, Plan& plan) {
    calls.push_back(seconds_of(view.now));
    if (calls.size() == 1) plan.wake_at(at(31));
    if (calls.size() == 2) plan.wake_at(at(0));
  });
  CHECK(calls == std::vector<std::int64_t>{10, 40, 50});
}

TEST_CASE("the estimator is asked once, on entry, and knows the jobs that have ended by then") {
  std::vector<std::int64_t> known;
  SimOptions options;
  options.estimator = testing::CountsEnds{known};
  // j0 ends at 10, in time for j2, which arrives then.
  const Trace trace = small_trace({{0, 1, 10}, {9, 1, 10}, {10, 1, 10}, {30, 1, 10}});
  replay(trace, small_cluster({1}), Greedy{}, options);
  CHECK(known == std::vector<std::int64_t>{0, 0, 1, 3});
}

}  // namespace
}  // namespace schedmate::sim
