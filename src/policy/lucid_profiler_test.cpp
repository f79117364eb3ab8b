// SPDX-License-Identifier: Apache-2.0
#include "policy/lucid_profiler.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <schedmate/sim.hpp>

#include "tests/support/small.hpp"

namespace schedmate::policy {
namespace {

using testing::small_cluster;
using testing::small_trace;
using testing::SmallJob;

struct Setup {
  bool elastic = true;
  double expected_gpus = 0;
  std::int64_t horizon_rows = 100;
};

SimResult profile(const std::vector<SmallJob>& jobs, Setup setup) {
  ForecastTable table;
  table.first = at(0);
  table.gpus.assign(static_cast<std::size_t>(setup.horizon_rows), setup.expected_gpus);
  table.jobs = table.gpus;
  Scheduler scheduler;
  scheduler.decide = [](const View&, Plan&) {};
  ProfilerStage stage;
  stage.decide = least_gpus_first({setup.elastic, 40, forecast_by(std::move(table))});
  stage.nodes = small_cluster({1}).partitions.front();
  scheduler.profiler = stage;
  return simulate(small_trace(jobs), small_cluster({2}), scheduler, {}).value();
}

TEST_CASE("jobs with fewer GPUs go first, equal ones by order of entry, strictly") {
  // One node: j0 runs 0-100. Then j2 (1 GPU) and j3 (4) start, j1 (8) waits for both.
  const SimResult result =
      profile({{0, 8, 100}, {1, 8, 50}, {2, 1, 30}, {3, 4, 40}, {4, 4, 10}}, {});
  CHECK(result.outcomes[2].start == at(100));
  CHECK(result.outcomes[3].start == at(100));
  CHECK(result.outcomes[4].start == at(130));
  CHECK(result.outcomes[1].start == at(140));
}

/// Twelve whole-node jobs of 100 s: one runs, eleven wait.
const std::vector<SmallJob> crowd(12, SmallJob{.submit_s = 3, .gpus = 8, .duration_s = 100});

TEST_CASE("more than ten waiting jobs add a node at the next ten seconds, for the second after") {
  const SimResult result = profile(crowd, {});
  REQUIRE_FALSE(result.profiler_scaling.empty());
  CHECK(result.profiler_scaling.front() == std::pair(at(10), 1));
  CHECK(result.outcomes[0].start == at(3));
  CHECK(result.outcomes[1].start == at(11));
  CHECK(result.outcomes[1].nodes.front().node == 9999);
}

TEST_CASE("ten waiting jobs add none, nor does a profiler that is not elastic") {
  const std::vector<SmallJob> eleven(crowd.begin(), crowd.end() - 1);
  CHECK(profile(eleven, {}).profiler_scaling.empty());
  CHECK(profile(crowd, {.elastic = false}).profiler_scaling.empty());
}

TEST_CASE("the node goes back when it is idle, few wait and little is expected") {
  // Two a hundred seconds from 11 on: all have ended at 611 (six on 9999, the last from 511).
  std::vector<SmallJob> jobs = crowd;
  jobs.push_back({.submit_s = 5000, .gpus = 8, .duration_s = 100});
  const SimResult result = profile(jobs, {.expected_gpus = 40});
  REQUIRE(result.profiler_scaling.size() == 2);
  CHECK(result.profiler_scaling[1] == std::pair(at(700), -1));
}

TEST_CASE("the node stays while more is expected, and goes when the forecast is over") {
  std::vector<SmallJob> jobs = crowd;
  jobs.push_back({.submit_s = 9000, .gpus = 8, .duration_s = 100});
  CHECK(profile(jobs, {.expected_gpus = 41}).profiler_scaling.size() == 1);
  // The table's last row begins at 4 x 600.
  const SimResult result = profile(jobs, {.expected_gpus = 41, .horizon_rows = 5});
  REQUIRE(result.profiler_scaling.size() == 2);
  CHECK(result.profiler_scaling[1].first == at(2400));
}

/// A VC behind a profiler of one node; who is known is told by the estimator.
struct Behind {
  Trace trace;
  ClusterSpec cluster;
  Scheduler scheduler;
  SimOptions options{};

  Behind(const std::vector<SmallJob>& jobs, int nodes, ProfilerStage::Bypass bypass)
      : trace(small_trace(jobs)), cluster(small_cluster({nodes})) {
    trace.packing = std::make_shared<const PackingTables>();
    scheduler = make_scheduler("fifo", {cluster}, PolicyOptions()).value();
    ProfilerStage stage;
    stage.decide = least_gpus_first({.elastic = false, .forecast = nullptr});
    stage.time = Seconds(100);
    stage.nodes = small_cluster({1}).partitions.front();
    stage.lenders = {"vc0"};
    stage.bypass = bypass;
    scheduler.profiler = stage;
  }
  [[nodiscard]] std::vector<JobOutcome> run() const {
    return simulate(trace, cluster, scheduler, options).value().outcomes;
  }
};

TEST_CASE("advice that comes while a job waits to be profiled sends it to its VC") {
  // The profiler's node holds j0 for 0-100; j1 and j2 wait. Only j2 is never predicted.
  Behind behind({{0, 8, 300}, {0, 8, 300}, {0, 8, 300}}, 3, ProfilerStage::Bypass::all);
  behind.options.estimator = [](const EnteringJob& at) {
    Prediction prediction{FractionalSeconds(300)};
    if (at.advice_is_due && at.job.number != 2) prediction.use = GpuUse{};
    return prediction;
  };
  const auto run = [&](std::int64_t advice_s) {
    behind.options.costs.advice = Seconds(advice_s);
    return behind.run();
  };
  const auto at_once = run(0);
  CHECK(at_once[0].start == at(0));
  CHECK(at_once[1].start == at(0));
  CHECK_FALSE(at_once[0].profiled);
  CHECK(at_once[2].profiled);

  const auto late = run(40);
  CHECK(late[0].profiled);  // was being measured by then
  CHECK(late[0].start == at(100));
  CHECK_FALSE(late[1].profiled);
  CHECK(late[1].start == at(40));
  CHECK(late[1].end == at(340));
  CHECK(late[1].queue == Seconds(40));
  CHECK(late[1].profiler_queue == Seconds(40));
  CHECK(late[2].profiled);
  CHECK(late[2].profiler_queue == Seconds(100));
  CHECK(late[2].start == at(340));

  const auto too_late = run(101);
  CHECK(too_late[1].profiled);
  CHECK(too_late[1].profiler_queue == Seconds(100));
}

TEST_CASE("who is known is profiled all the same where only the profiler has free GPUs") {
  // j0 takes the VC's node for 0-1000. j1, of 50 s, finds the profiler free, j2 nothing, j3 both.
  const auto run = [](ProfilerStage::Bypass bypass) {
    Behind behind({{0, 8, 1000}, {10, 8, 50}, {20, 8, 300}, {2000, 8, 300}}, 2, bypass);
    behind.options.estimator = [](const EnteringJob&) {
      Prediction prediction{FractionalSeconds(300)};
      prediction.use = GpuUse{};
      return prediction;
    };
    return behind.run();
  };
  const auto free = run(ProfilerStage::Bypass::free);
  CHECK_FALSE(free[0].profiled);
  CHECK(free[1].finished_in_profiler);
  CHECK(free[1].end == at(60));
  CHECK_FALSE(free[2].profiled);
  CHECK(free[2].start == at(1000));
  CHECK_FALSE(free[3].profiled);
  const auto all = run(ProfilerStage::Bypass::all);
  CHECK_FALSE(all[1].profiled);
  CHECK(all[1].start == at(1000));
}

/// Knows whom it is asked about, and notes how many have ended by then.
struct NotesEnds {
  std::vector<std::pair<std::uint64_t, int>>& asked;
  int ended = 0;

  void learn(const FinishedJob&) { ++ended; }
  Prediction operator()(const EnteringJob& entering) {
    asked.emplace_back(entering.job.number, ended);
    Prediction prediction{FractionalSeconds(300)};
    prediction.use = GpuUse{};
    return prediction;
  }
};

TEST_CASE("jobs that come in one second are told of the same ends, whoever is asked first") {
  Behind behind({{0, 8, 100}, {100, 8, 50}, {100, 8, 50}}, 2, ProfilerStage::Bypass::free);
  std::vector<std::pair<std::uint64_t, int>> asked;
  behind.options.estimator = NotesEnds{asked};
  (void)behind.run();
  for (const std::uint64_t job : {1U, 2U}) {
    const auto first = std::ranges::find(asked, job, [](const auto& each) { return each.first; });
    REQUIRE(first != asked.end());
    CHECK(first->second == 1);
  }
}

}  // namespace
}  // namespace schedmate::policy
