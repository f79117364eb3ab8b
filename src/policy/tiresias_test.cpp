// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <schedmate/sim.hpp>

#include "tests/support/small.hpp"

namespace schedmate::policy {
namespace {

using testing::small_cluster;
using testing::small_trace;
using Settings = std::map<std::string, std::string, std::less<>>;

SimResult replay(const Trace& trace, const Settings& settings, int nodes = 1) {
  const ClusterSpec cluster = small_cluster({nodes});
  const auto scheduler = make_scheduler("tiresias", {cluster}, PolicyOptions(settings)).value();
  return simulate(trace, cluster, scheduler, {}).value();
}

TEST_CASE("jobs start at multiples of the interval on the trace's clock only") {
  const Trace trace = small_trace({{-100, 1, 30}, {0, 1, 30}, {61, 1, 30}});
  const SimResult result = replay(trace, {});
  CHECK(result.outcomes[0].start == at(-60));
  CHECK(result.outcomes[1].start == at(0));
  CHECK(result.outcomes[2].start == at(120));
  CHECK(replay(trace, {{"interval_s", "7"}}).outcomes[2].start == at(63));
}

TEST_CASE("a job leaves a queue only when its service exceeds the threshold") {
  // 8 GPUs x 60 s = 480 at 60: not above 480, so j0 (first by submission) keeps the node until 120.
  const Trace trace = small_trace({{0, 8, 300}, {1, 8, 30}});
  CHECK(replay(trace, {{"thresholds", "480"}}).outcomes[1].start == at(120));
  CHECK(replay(trace, {{"thresholds", "479"}}).outcomes[1].start == at(60));
}

TEST_CASE("with three queues the least served goes first, whatever their submission") {
  // Thresholds 8 x 50 and 8 x 150. j0 0-60, then demoted for j1; j1 60-120, demoted: j0 again
  // (both in the second queue, j0 first), until it exceeds 1200 after 90 + 60 = 151 s: at 240 it is
  // in the third queue and j1 goes on.
  const Trace trace = small_trace({{0, 8, 400}, {1, 8, 400}});
  const SimResult result = replay(trace, {{"thresholds", "400+1200"}});
  CHECK(result.outcomes[0].start == at(0));
  CHECK(result.outcomes[1].start == at(60));
  CHECK(result.outcomes[0].preemptions >= 2);
  const SimResult two = replay(trace, {{"thresholds", "400"}});
  CHECK(two.outcomes[0].preemptions == 1);
  // j0: 60 run, 340 + 40 left at 120, when j1 has been demoted as well: it keeps the node.
  CHECK(two.outcomes[0].end == at(500));
}

TEST_CASE("running jobs go before waiting ones of the same queue and submission time") {
  // Two gangs of the same second: j0 runs; j1 waits, in the same queue, and does not disturb it.
  const Trace trace = small_trace({{0, 8, 100}, {0, 8, 100}});
  const SimResult result = replay(trace, {});
  CHECK(result.outcomes[0].preemptions == 0);
  CHECK(result.outcomes[0].end == at(100));
  CHECK(result.outcomes[1].start == at(120));
}

TEST_CASE("attained service counts GPUs: a wide job is demoted before a narrow one") {
  // After 60 s: 16 x 60 = 960 above 900, 8 x 60 below. So at 60 j0 yields to j2, j1 stays.
  const Trace trace = small_trace({{0, 16, 200}, {0, 8, 200}, {30, 16, 100}});
  const SimResult result = replay(trace, {{"thresholds", "900"}}, 3);
  CHECK(result.outcomes[0].preemptions == 1);
  CHECK(result.outcomes[1].preemptions == 0);
  CHECK(result.outcomes[2].start == at(60));
}

/// tiresias+sm with thresholds=800 where all that `estimator` says is advice.
std::vector<JobOutcome> advised(const Trace& trace, const std::string& defer, Estimator estimator) {
  const ClusterSpec cluster = small_cluster({1});
  const Settings settings{{"thresholds", "800"}, {"defer", defer}};
  const auto scheduler = make_scheduler("tiresias+sm", {cluster}, PolicyOptions(settings)).value();
  SimOptions options;
  options.estimator = std::move(estimator);
  return simulate(trace, cluster, scheduler, options).value().outcomes;
}

TEST_CASE("with SchedMate no preemption that does not pay, and all that do") {
  // Demoted at 120, j0 has duration - 120 s left; j1 would be gone after 30 + 40 s.
  const auto second_starts = [](std::int64_t duration_s, const std::vector<double>& expected_s) {
    const Trace trace = small_trace({{0, 8, duration_s}, {30, 8, 30}});
    CHECK(replay(trace, {{"thresholds", "800"}}).outcomes[1].start == at(120));
    const auto outcomes = advised(trace, "0", [&](const EnteringJob& at) {
      const double known_s = expected_s[at.job.number];
      return Prediction{.run_time = FractionalSeconds(known_s), .advised = known_s > 0 ? 1.0 : 0.0};
    });
    CHECK(outcomes[0].preemptions == (outcomes[0].end > outcomes[1].end ? 1 : 0));
    return seconds_of(outcomes[1].start);
  };
  CHECK(second_starts(190, {190, 30}) == 240);
  CHECK(second_starts(191, {191, 30}) == 120);
  CHECK(second_starts(400, {400, 30}) == 120);
  // What is expected decides, not what will be; beyond its estimate j0 is expected to run on for as
  // long as it has run, 120 s at 120.
  CHECK(second_starts(400, {190, 30}) == 240);
  CHECK(second_starts(400, {100, 79}) == 120);
  CHECK(second_starts(400, {100, 80}) == 180);
  // Of one of the two nothing is known (0): as plain tiresias.
  CHECK(second_starts(190, {0, 30}) == 120);
  CHECK(second_starts(190, {190, 0}) == 120);
}

TEST_CASE("with SchedMate a job that is all but sure to be large begins in the lower queue") {
  // j0 until 60; then j1, or j2 when at least 101 s of 8 GPUs are predicted of j1.
  const Trace trace = small_trace({{0, 8, 60}, {5, 8, 300}, {10, 8, 30}});
  const auto goes_first = [&](double low_s, double advised_share) {
    const auto outcomes = advised(trace, "0", [&](const EnteringJob& at) {
      return Prediction{.run_time = trace.jobs[at.job.number].duration,
                        .distribution = RunTimeDistribution::point(
                            FractionalSeconds(at.job.number == 1 ? low_s : 0)),
                        .advised = advised_share};
    });
    return outcomes[1].start == at(60);
  };
  CHECK(goes_first(100, 1));
  CHECK_FALSE(goes_first(101, 1));
  CHECK_FALSE(goes_first(101, 0.5));
  CHECK(goes_first(101, 0.4));
}

TEST_CASE("with SchedMate a job goes as if submitted `defer` times its run time later") {
  // j1: 5 + defer x 90, j2: 50 + defer x 30; equal at 0.75.
  const Trace trace = small_trace({{0, 8, 60}, {5, 8, 90}, {50, 8, 30}});
  const auto first = [&](const std::string& defer) {
    const auto outcomes = advised(trace, defer, [&](const EnteringJob& at) {
      return Prediction{.run_time = trace.jobs[at.job.number].duration, .advised = 1};
    });
    return outcomes[1].start < outcomes[2].start ? 1 : 2;
  };
  CHECK(first("0") == 1);
  CHECK(first("0.7") == 1);
  CHECK(first("0.8") == 2);
}

}  // namespace
}  // namespace schedmate::policy
