// SPDX-License-Identifier: Apache-2.0
/// Failures, restarts and what they cost.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <schedmate/sim.hpp>
#include <string>

#include "tests/support/small.hpp"

namespace schedmate::sim {
namespace {

using testing::small_cluster;
using testing::small_trace;
using testing::SmallJob;
using Settings = std::map<std::string, std::string, std::less<>>;

constexpr std::int64_t duration_s = 20'000;

/// Jobs of one GPU that all run at once.
Trace many_jobs(std::size_t count = 400) {
  return small_trace(std::vector<SmallJob>(count, {.gpus = 1, .duration_s = duration_s}));
}

/// About one failure a job.
FailureCosts failures(Seconds checkpoint = Seconds(1800)) {
  return {.gpu_hours = 6,
          .checkpoint = checkpoint,
          .detection = Seconds(600),
          .manual_restart = Seconds(3600),
          .handled_restart = Seconds(60)};
}

SimResult replay(const Trace& trace, const FailureCosts& failures, bool handler = false,
                 int nodes = 50) {
  const ClusterSpec cluster = small_cluster({nodes});
  Scheduler fifo = make_scheduler("fifo", {cluster, {}, 1, forecast_of(trace)}, {}).value();
  fifo.handler = handler;
  SimOptions options;
  options.costs.failures = failures;
  return simulate(trace, cluster, fifo, options).value();
}

double jct_s(const JobOutcome& outcome) { return static_cast<double>(seconds_of(outcome.end)); }

TEST_CASE("a failed job holds its GPU until somebody sees it and goes on from its checkpoint") {
  int failed = 0;
  for (const JobOutcome& job : replay(many_jobs(), failures()).outcomes) {
    REQUIRE(job.status == JobStatus::finished);
    REQUIRE(job.queue == Seconds(0));
    REQUIRE(job.down == job.failures * Seconds(3600));
    REQUIRE(job.overhead_gpu_s == job.failures * 600.0);
    REQUIRE(job.lost_gpu_s >= 0);
    REQUIRE(job.lost_gpu_s < job.failures * 1800.0 + (job.failures == 0 ? 1 : 0));
    REQUIRE(job.held_gpu_s == duration_s + job.lost_gpu_s + job.overhead_gpu_s);
    REQUIRE(jct_s(job) == job.held_gpu_s + job.failures * 3600.0);
    failed += job.failures;
  }
  CHECK(failed > 300);
}

TEST_CASE("failures come at the rate that was asked for") {
  // No work is lost, so each job runs 20,000 s: 400 x 5.56 h / 6 h = 370 failures, and as many are
  // a Poisson number of standard error 19.
  int failed = 0;
  for (const JobOutcome& job : replay(many_jobs(), failures(Seconds(1))).outcomes) {
    CHECK(job.lost_gpu_s == 0);
    failed += job.failures;
  }
  CHECK(std::abs(failed - 370) < 5 * 19);
}

TEST_CASE("without a checkpoint all progress is lost") {
  const Trace trace = many_jobs();
  const SimResult all = replay(trace, failures(Seconds(1'000'000)));
  const SimResult none = replay(trace, failures(Seconds(1)));
  int once = 0;
  for (std::size_t row = 0; row < trace.jobs.size(); ++row) {
    const JobOutcome& job = all.outcomes[row];
    if (job.failures != 1) continue;
    ++once;
    // The second attempt runs the whole job; with checkpoints it runs what was left.
    CHECK(job.lost_gpu_s > 0);
    CHECK(jct_s(job) - job.lost_gpu_s == jct_s(none.outcomes[row]));
    CHECK(none.outcomes[row].failures == 1);
  }
  CHECK(once > 50);
}

TEST_CASE("the handler restarts sooner, and one that misses every failure is none") {
  const Trace trace = many_jobs();
  FailureCosts costs = failures();
  const SimResult manual = replay(trace, costs);
  const SimResult handled = replay(trace, costs, true);
  costs.missed_share = 1;
  costs.bad_node_share = 0.5;
  const SimResult missing = replay(trace, costs, true);
  const SimResult nobody = replay(trace, costs);
  int doomed = 0;
  for (std::size_t row = 0; row < trace.jobs.size(); ++row) {
    const JobOutcome& job = handled.outcomes[row];
    CHECK(job.failures == manual.outcomes[row].failures);
    CHECK(jct_s(manual.outcomes[row]) - jct_s(job) == job.failures * (3600.0 - 60));
    CHECK(missing.outcomes[row].end == nobody.outcomes[row].end);
    CHECK(missing.outcomes[row].failures == nobody.outcomes[row].failures);
    doomed += nobody.outcomes[row].failures - manual.outcomes[row].failures;
  }
  CHECK(doomed > 50);
}

TEST_CASE("a bad node fails the job once more at once, unless the handler leaves it out") {
  const Trace trace = many_jobs();
  FailureCosts costs = failures(Seconds(1));
  const SimResult good = replay(trace, costs);
  costs.bad_node_share = 1;
  const SimResult bad = replay(trace, costs);
  const SimResult handled = replay(trace, costs, true);
  for (std::size_t row = 0; row < trace.jobs.size(); ++row) {
    // Each failure brings another one that loses nothing but the time to see it.
    CHECK(bad.outcomes[row].failures % 2 == 0);
    CHECK(bad.outcomes[row].lost_gpu_s == 0);
    CHECK(handled.outcomes[row].failures == good.outcomes[row].failures);
  }
}

TEST_CASE("failures of framework and script are left to the owner") {
  const Trace trace = many_jobs();
  FailureCosts costs = failures(Seconds(1));
  const auto down_s = [&](bool handler) {
    double sum_s = 0;
    for (const JobOutcome& job : replay(trace, costs, handler).outcomes)
      sum_s += static_cast<double>(job.down.count());
    return sum_s;
  };
  const double by_hand_s = down_s(false);
  const double most_s = by_hand_s - down_s(true);
  costs.framework_share = costs.script_share = 0.5;
  CHECK(down_s(true) == by_hand_s);
  costs.script_share = 0.25;
  CHECK(down_s(false) == by_hand_s);
  CHECK(std::abs((by_hand_s - down_s(true)) / most_s - 0.25) < 0.1);
}

TEST_CASE("a failure of the script's that the handler takes for another fails at once again") {
  const Trace trace = many_jobs();
  FailureCosts costs = failures(Seconds(1));
  costs.script_share = costs.false_share = 1;
  int failed = 0;
  for (const JobOutcome& job : replay(trace, costs, true).outcomes) {
    CHECK(job.failures % 2 == 0);
    CHECK(job.down == job.failures / 2 * Seconds(60 + 3600));
    failed += job.failures;
  }
  CHECK(failed > 300);
}

TEST_CASE("a FAILED job that the handler starts again only costs GPU time") {
  Trace trace = many_jobs(40);
  for (std::size_t row = 0; row < trace.jobs.size(); row += 2)
    trace.jobs[row].state = EndState::failed;
  // So rare that none comes.
  FailureCosts costs = failures();
  costs.gpu_hours = 1e9;
  const SimResult right = replay(trace, costs, true, 5);
  costs.false_share = 1;
  const SimResult wrong = replay(trace, costs, true, 5);
  for (std::size_t row = 0; row < trace.jobs.size(); ++row) {
    const JobOutcome& job = wrong.outcomes[row];
    const bool failed = trace.jobs[row].state == EndState::failed;
    CHECK(job.end == right.outcomes[row].end);
    CHECK(job.queue == right.outcomes[row].queue);
    CHECK(job.nodes == right.outcomes[row].nodes);
    CHECK(job.held_gpu_s == (failed ? 2 : 1) * duration_s);
    CHECK(job.lost_gpu_s == (failed ? duration_s : 0));
  }
  // Where GPUs are short others wait for them.
  const auto sum_of_queues = [&](double share) {
    costs.false_share = share;
    trace.jobs.back().submit = at(1);
    std::int64_t sum_s = 0;
    for (const JobOutcome& job : replay(trace, costs, true, 1).outcomes) sum_s += job.queue.count();
    return sum_s;
  };
  CHECK(sum_of_queues(1) > sum_of_queues(0));
}

/// Two jobs of 20,000 of 24,576 MiB each, which somebody takes for small: full speed.
Trace two_large_jobs() {
  Trace trace = small_trace({{.submit_s = 0, .gpus = 8, .duration_s = 1000, .profile = 0},
                             {.submit_s = 1, .gpus = 8, .duration_s = 500, .profile = 0}});
  PackingTables tables;
  tables.profiles.resize(1);
  tables.profiles[0].memory_mib = 20'000;
  tables.pairs = {{1, 1}};
  trace.packing = std::make_shared<const PackingTables>(std::move(tables));
  return trace;
}

Estimator small_use(const Trace& trace) {
  return [&trace](const EnteringJob& at) {
    return Prediction{.run_time = trace.jobs[at.job.number].duration, .use = GpuUse{10, 10, 1000}};
  };
}

TEST_CASE("a newcomer whose memory does not fit dies while it loads and never shares again") {
  const Trace trace = two_large_jobs();
  const ClusterSpec cluster = small_cluster({1});
  for (const auto& [policy, settings] :
       std::map<std::string, Settings>{{"lucid", {{"packing", "on"}, {"profiler", "off"}}},
                                       {"horus", {{"memory_mib", "24576"}, {"tick_s", "1"}}}}) {
    CAPTURE(policy);
    Scheduler scheduler =
        make_scheduler(policy, {cluster, {}, 1, forecast_of(trace)}, PolicyOptions(settings))
            .value();
    SimOptions options;
    options.estimator = small_use(trace);
    for (const bool handler : {false, true}) {
      scheduler.handler = handler;
      const SimResult result = simulate(trace, cluster, scheduler, options).value();
      // It runs from 1 to 61; a handler has it back while the other still runs, its owner later.
      CHECK(result.outcomes[0].end == at(1000));
      CHECK(result.outcomes[0].evictions == 0);
      CHECK(result.outcomes[1].evictions == 1);
      CHECK(result.outcomes[1].lost_gpu_s == 8 * 60);
      CHECK(result.outcomes[1].down == Seconds(handler ? 60 : 3600));
      CHECK(result.outcomes[1].end == at(handler ? 1500 : 61 + 3600 + 500));
      CHECK(result.outcomes[1].held_gpu_s == 8 * 560);
    }
  }
}

TEST_CASE("a newcomer that is evicted before its memory fills up does not die later") {
  const Trace trace = two_large_jobs();
  const ClusterSpec cluster = small_cluster({1});
  Scheduler scheduler;
  scheduler.decide = [](const View& view, Plan& plan) {
    for (const JobId id : view.arrived) {
      if (plan.start(id, 8)) continue;
      plan.start_with(id, JobId{});
      plan.wake_at(view.now + Seconds(10));
    }
    if (view.now == at(11)) plan.evict(static_cast<JobId>(1));
    if (!view.ended.empty() && view.ended.front() == JobId{}) plan.start(static_cast<JobId>(1), 8);
  };
  const SimResult result = simulate(trace, cluster, scheduler, {}).value();
  CHECK(result.outcomes[1].evictions == 1);
  CHECK(result.outcomes[1].lost_gpu_s == 8 * 10);
  CHECK(result.outcomes[1].end == at(1500));
}

TEST_CASE("no job waits for advice; what comes too late is not followed") {
  // One node. The second job would go first if its length were known.
  const Trace trace = small_trace({{.submit_s = 0, .gpus = 8, .duration_s = 50},
                                   {.submit_s = 1, .gpus = 8, .duration_s = 100},
                                   {.submit_s = 1, .gpus = 8, .duration_s = 10}});
  const ClusterSpec cluster = small_cluster({1});
  SimOptions options;
  options.estimator = [&](const EnteringJob& at) {
    return Prediction{at.advice_is_due ? FractionalSeconds(trace.jobs[at.job.number].duration)
                                       : FractionalSeconds(5)};
  };
  const Scheduler sjf =
      make_scheduler("sjf", {cluster, {}, 1, forecast_of(trace)}, PolicyOptions()).value();
  CHECK(simulate(trace, cluster, sjf, options).value().outcomes[2].start == at(50));
  options.costs.advice = Seconds(7);
  const SimResult late = simulate(trace, cluster, sjf, options).value();
  CHECK(late.outcomes[0].start == at(0));
  CHECK(late.outcomes[1].start == at(50));
  CHECK(late.outcomes[2].start == at(150));
}

TEST_CASE("a share of the jobs ends early, cancelled, at any moment of its run") {
  Trace trace = many_jobs(4000);
  for (Job& job : trace.jobs) job.state = EndState::completed;
  end_early(trace, 0, 1);
  CHECK(trace.jobs[0].state == EndState::completed);
  end_early(trace, 0.3, 1);
  int early = 0;
  double sum_s = 0;
  for (const Job& job : trace.jobs) {
    if (job.state == EndState::completed) {
      CHECK(job.duration == Seconds(duration_s));
      continue;
    }
    CHECK(job.state == EndState::cancelled);
    CHECK(job.duration >= Seconds(1));
    CHECK(job.duration <= Seconds(duration_s));
    ++early;
    sum_s += static_cast<double>(job.duration.count());
  }
  // 1200 of 4000 with a standard error of 29; their mean is 10,000 with one of 167.
  CHECK(std::abs(early - 1200) < 5 * 29);
  CHECK(std::abs(sum_s / early - 10'000) < 5 * 167);
}

}  // namespace
}  // namespace schedmate::sim
