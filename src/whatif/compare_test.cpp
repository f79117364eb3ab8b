// SPDX-License-Identifier: Apache-2.0
#include "whatif/compare.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/near.hpp"
#include "whatif/sample.hpp"

namespace schedmate::whatif {
namespace {

using testing::near;

/// Job 0 runs when the record becomes complete, at 100; ten jobs of 100 s follow, each 50 s after
/// the one before and 20 s after it became eligible; the last one still runs.
AccountingDump queue() {
  std::vector<sample::Wanted> jobs{{"0", "ann", "p", 2, 0, 0, 100}};
  for (std::int64_t i = 1; i <= 10; ++i) {
    jobs.push_back({std::to_string(i), i % 2 == 0 ? "ann" : "bob", "p", 1, 80 + 50 * i,
                    100 + 50 * i, 200 + 50 * i});
  }
  auto dump = sample::past_dump(std::move(jobs), 1);
  dump.jobs[10].running = true;
  return dump;
}

RecordedCluster world_of(const AccountingDump& dump) {
  return make_world(dump, infer_cluster(dump).value(), sample::same).value();
}

/// A run in which every job starts `late_s(row)` after its real start.
template <class Late>
SimResult run(const RecordedCluster& world, Late late_s) {
  SimResult result;
  for (std::size_t row = 0; row < world.past.size(); ++row) {
    JobOutcome outcome;
    outcome.status = JobStatus::finished;
    outcome.started = true;
    outcome.start = world.past[row].start + Seconds(late_s(row));
    outcome.end = outcome.start + world.trace.jobs[row].duration;
    outcome.queue = outcome.start - world.trace.jobs[row].submit;
    result.outcomes.push_back(outcome);
  }
  return result;
}

Grouping one_group(const RecordedCluster& world) {
  return {{"all"}, std::vector<std::uint32_t>(world.past.size())};
}

}  // namespace

TEST_CASE("fidelity: absolute start errors of jobs that entered on their own") {
  const auto dump = queue();
  const RecordedCluster world = world_of(dump);
  const auto late = [](std::size_t row) { return row == 10 ? 700 : row % 2 == 0 ? 30 : -10; };
  const Fidelity f = measure_fidelity(world, run(world, late));
  CHECK(f.jobs == 10);
  CHECK(f.pinned == 1);
  CHECK(f.pinned_elsewhen == 1);
  CHECK(f.censored == 1);
  CHECK(f.median_error_s == 10);  // 5 x 10, 4 x 30, 700
  CHECK(f.p90_error_s == 30);
  CHECK(near(f.within_60_s, 0.9, 1e-12, 0));
  CHECK(near(f.mean_error_s, (700 + 4 * 30 - 5 * 10) / 10.0, 1e-12, 0));
  CHECK(f.real_wait_s == 20);
  CHECK(near(f.replay_wait_s, 20 + 77, 1e-12, 0));
  CHECK(f.allowed_s == 600);
  CHECK(f.good());
}

TEST_CASE("fidelity: too far off, or never started, is not good") {
  const auto dump = queue();
  const RecordedCluster world = world_of(dump);
  CHECK_FALSE(measure_fidelity(world, run(world, [](std::size_t) { return 601; })).good());
  CHECK(measure_fidelity(world, run(world, [](std::size_t) { return 600; })).good());
  SimResult stuck = run(world, [](std::size_t) { return 0; });
  for (std::size_t row = 1; row <= 5; ++row) stuck.outcomes[row].started = false;
  CHECK(measure_fidelity(world, stuck).good());  // the median is the fifth of ten
  stuck.outcomes[6].started = false;
  const Fidelity f = measure_fidelity(world, stuck);
  CHECK(f.never_started == 6);
  CHECK_FALSE(f.good());
}

TEST_CASE("changes: the mean log ratio, its interval and the verdict, worked out by hand") {
  const auto dump = queue();
  const RecordedCluster world = world_of(dump);
  const SimResult replay = run(world, [](std::size_t) { return 0; });
  // JCT is 120 s in the replay, 60 s under the policy: runs are cut short here to get a round
  // ratio.
  SimResult half = replay;
  for (JobOutcome& outcome : half.outcomes) outcome.end -= Seconds(60);
  const auto changes = compare(world, {replay, half}, one_group(world), 1);
  REQUIRE(changes.size() == 1);
  const Change& c = changes[0];
  CHECK(c.jobs == 9);  // without the pinned and the running one
  CHECK(near(c.log_ratio, std::log(0.5), 1e-12, 0));
  CHECK(near(c.low, std::log(0.5), 1e-12, 0));
  CHECK(near(c.high, std::log(0.5), 1e-12, 0));
  CHECK(near(c.replay_log_ratio, 0, 0, 1e-12));
  CHECK(c.verdict == Effect::gains);
  CHECK(c.confidence == Confidence::medium);  // fewer than 30 jobs
  CHECK(c.real_wait_s == 20);
  CHECK(c.wait_s == 20);
}

TEST_CASE(
    "changes: a mixed effect is unclear; one within the replay's own error has low confidence") {
  const auto dump = queue();
  const RecordedCluster world = world_of(dump);
  const SimResult replay = run(world, [](std::size_t) { return 0; });
  const SimResult mixed = run(world, [](std::size_t row) { return row % 2 == 0 ? 20 : -20; });
  const Change unclear = compare(world, {replay, mixed}, one_group(world), 1).front();
  CHECK(unclear.low < 0);
  CHECK(unclear.high > 0);
  CHECK(unclear.low < unclear.log_ratio);
  CHECK(unclear.log_ratio < unclear.high);
  CHECK(unclear.verdict == Effect::unclear);
  CHECK(unclear.confidence == Confidence::none);

  const SimResult off = run(world, [](std::size_t) { return 100; });
  const SimResult later = run(world, [](std::size_t) { return 110; });
  const Change low = compare(world, {off, later}, one_group(world), 1).front();
  CHECK(low.verdict == Effect::loses);
  CHECK(low.confidence == Confidence::low);
}

TEST_CASE("changes: errors of the replay that offset each other lower the confidence") {
  const auto dump = queue();
  const RecordedCluster world = world_of(dump);
  // Off by a minute each way, so that the mean error is small; JCT is 120 s in reality.
  const SimResult off = run(world, [](std::size_t row) { return row % 2 == 0 ? 60 : -60; });
  SimResult sooner = off;
  for (JobOutcome& outcome : sooner.outcomes) outcome.end -= Seconds(25);
  const Change c = compare(world, {off, sooner}, one_group(world), 1).front();
  CHECK(near(c.replay_log_error, (4 * std::log(1.5) - 5 * std::log(0.5)) / 9, 1e-12, 0));
  CHECK(std::abs(c.log_ratio) > std::abs(c.replay_log_ratio));
  CHECK(c.replay_end_error_s == 60);
  CHECK(near(c.end_shift_s, (4 * 35 + 5 * 85) / 9.0, 1e-12, 0));
  CHECK(c.verdict == Effect::gains);
  CHECK(c.confidence == Confidence::low);
  CHECK(c.doubt == LowConfidenceReason::replay_error);
}

TEST_CASE("changes: a run that may be what was, and one on invented GPU use, have low confidence") {
  const auto dump = queue();
  const RecordedCluster world = world_of(dump);
  const SimResult past = run(world, [](std::size_t) { return 0; });
  const SimResult late = run(world, [](std::size_t) { return 30; });
  // Far from the replay, but exactly what was.
  SimResult replay = late;
  for (JobOutcome& outcome : replay.outcomes) outcome.end += Seconds(400);
  const Change same = compare(world, {replay, past}, one_group(world), 1).front();
  CHECK(same.verdict == Effect::gains);
  CHECK(same.confidence == Confidence::low);
  // The replay is 10 s late; a run is distinguished from it when it is over 20 s off.
  const SimResult near = run(world, [](std::size_t) { return 10; });
  SimResult shorter = past;
  for (JobOutcome& outcome : shorter.outcomes) outcome.end -= Seconds(20);
  const Change c = compare(world, {near, shorter}, one_group(world), 1).front();
  CHECK(c.end_shift_s == 20);
  CHECK(c.replay_end_error_s == 10);
  CHECK(c.doubt == LowConfidenceReason::near_to_past);
  CHECK(c.confidence == Confidence::low);
  for (JobOutcome& outcome : shorter.outcomes) outcome.end -= Seconds(1);
  const Change change = compare(world, {near, shorter}, one_group(world), 1).front();
  CHECK(change.doubt == LowConfidenceReason::few_jobs);
  const Change invented = compare(world, {near, shorter, true}, one_group(world), 1).front();
  CHECK(invented.doubt == LowConfidenceReason::gpu_use);
  CHECK(invented.confidence == Confidence::low);
}

TEST_CASE("changes: of fewer than six jobs no verdict is given") {
  const auto dump = queue();
  const RecordedCluster world = world_of(dump);
  const SimResult replay = run(world, [](std::size_t) { return 0; });
  SimResult half = replay;
  for (JobOutcome& outcome : half.outcomes) outcome.end -= Seconds(60);
  for (std::size_t first = 1; first <= 9; ++first) {
    Grouping two{{"few", "rest"}, std::vector<std::uint32_t>(world.past.size(), 1)};
    for (std::size_t row = 1; row <= first; ++row) two.of_row[row] = 0;
    const Change few = compare(world, {replay, half}, two, 1).front();
    CHECK(few.jobs == first);
    CHECK(few.doubt == LowConfidenceReason::few_jobs);
    CHECK((few.verdict == Effect::unclear) == (first < 6));
    CHECK(few.confidence == (first < 6 ? Confidence::none : Confidence::medium));
  }
}

TEST_CASE("changes: a group that is replayed exactly still has the error of all jobs") {
  const auto dump = queue();
  const RecordedCluster world = world_of(dump);
  // Rows 1 to 6 meet what was, the others are a minute and more off.
  const SimResult replay = run(world, [](std::size_t row) { return row <= 6 ? 0 : 90; });
  SimResult longer = replay;
  for (JobOutcome& outcome : longer.outcomes) outcome.end += Seconds(3);
  Grouping two{{"exact", "rest"}, std::vector<std::uint32_t>(world.past.size(), 1)};
  for (std::size_t row = 1; row <= 6; ++row) two.of_row[row] = 0;
  const Change exact = compare(world, {replay, longer}, two, 1).front();
  CHECK(exact.replay_log_error == 0);
  CHECK(exact.verdict == Effect::loses);
  CHECK(exact.doubt == LowConfidenceReason::replay_error);
  for (JobOutcome& outcome : longer.outcomes) outcome.end += Seconds(200);
  CHECK(compare(world, {replay, longer}, two, 1).front().confidence == Confidence::medium);
}

TEST_CASE("changes: one row for each group with jobs, the same for the same seed") {
  const auto dump = queue();
  const RecordedCluster world = world_of(dump);
  const SimResult replay = run(world, [](std::size_t) { return 0; });
  const SimResult mixed = run(world, [](std::size_t row) { return 7 * static_cast<int>(row); });
  Grouping users{{"ann", "bob", "nobody"}, {}};
  for (const Job& job : world.trace.jobs) users.of_row.push_back(job.user);
  const auto once = compare(world, {replay, mixed}, users, 5);
  const auto again = compare(world, {replay, mixed}, users, 5);
  REQUIRE(once.size() == 2);
  CHECK(once[0].jobs == 4);
  CHECK(once[1].jobs == 5);
  CHECK(once[0].low == again[0].low);
  CHECK(once[1].high == again[1].high);
}

TEST_CASE("losses: GPU hours by state and cause; waiting by its reason") {
  auto dump = queue();
  dump.jobs[1].state = "FAILED";
  dump.jobs[1].exit_code = "1:0";
  dump.jobs[2].state = "FAILED";
  dump.jobs[2].exit_code = "0:9";
  dump.jobs[3].state = "NODE_FAIL";
  dump.jobs[4].state = "TIMEOUT";
  dump.jobs[5].state = "OUT_OF_MEMORY";
  dump.jobs[0].state = "NODE_FAIL";
  dump.jobs[6].reason = "QOSMaxGRESPerUser";
  const RecordedCluster world = world_of(dump);
  const auto losses = find_losses(dump, world);
  REQUIRE(losses.size() == 5);
  CHECK(losses[0].state == "NODE_FAIL");
  CHECK(losses[0].cause == "infrastructure");
  CHECK(losses[0].confidence == Confidence::high);
  CHECK(losses[0].jobs == 2);
  CHECK(near(losses[0].gpu_h, 300 / 3600.0, 1e-12, 0));
  CHECK(near(losses[0].share, 300 / 1200.0, 1e-12, 0));
  const auto has = [&](std::string_view cause) {
    return std::ranges::count(losses, cause, &Loss::cause) == 1;
  };
  CHECK(has("program ended with an error"));
  for (const Loss& loss : losses)
    CHECK((loss.confidence == Confidence::low) == (loss.state == "FAILED"));
  CHECK(has("program or its launch was killed"));
  CHECK(has("time limit"));
  CHECK(has("memory"));
  const auto reasons = find_reasons(dump, world);
  REQUIRE(reasons.size() == 2);
  CHECK(reasons[1].reason == "QOSMaxGRESPerUser");
  CHECK(near(reasons[1].share, 0.1, 1e-12, 0));
}

}  // namespace schedmate::whatif
