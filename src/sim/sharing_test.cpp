// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <schedmate/sim.hpp>

#include "tests/support/near.hpp"
#include "tests/support/small.hpp"

namespace schedmate::sim {
namespace {

using testing::job;
using testing::near;
using testing::small_cluster;
using testing::small_trace;

/// Profiles 0 and 1: 60 % and 30 % busy. Speeds of the newcomer and of the resident are multiples
/// of 1/8, so that seconds of work are exact.
Trace with_tables(Trace trace) {
  PackingTables tables;
  tables.profiles.resize(2);
  tables.profiles[0].gpu_util_pct = 60;
  tables.profiles[1].gpu_util_pct = 30;
  tables.pairs = {{0.5, 0.5}, {0.25, 0.875}, {0.75, 0.375}, {0.5, 0.5}};
  trace.packing = std::make_shared<const PackingTables>(std::move(tables));
  return trace;
}

SimResult replay(const Trace& trace, Policy policy, const SimOptions& options = {}) {
  Scheduler scheduler;
  scheduler.decide = std::move(policy);
  return simulate(trace, small_cluster({2}), scheduler, options).value();
}

/// Everybody runs on the GPUs of the first job.
void all_together(const View& view, Plan& plan) {
  for (const JobId id : view.arrived) {
    if (id == job(0)) {
      plan.start(id, view.job(id).gpus);
    } else {
      plan.start_with(id, job(0));
    }
  }
}

TEST_CASE("a pair runs at the speeds of the table until one has ended") {
  // j1 (profile 1) joins j0 (profile 0) at 40: speeds 0.75 and 0.375. j1 needs 30 / 0.75 = 40 s and
  // ends at 80; j0 has done 40 + 15 = 55 by then and needs 45 more: 125.
  const Trace trace = with_tables(small_trace({{0, 8, 100, 0, 0, 0}, {40, 8, 30, 0, 0, 1}}));
  const SimResult result = replay(trace, all_together);
  const JobOutcome& resident = result.outcomes[0];
  const JobOutcome& newcomer = result.outcomes[1];
  CHECK(newcomer.end == at(80));
  CHECK(newcomer.rate == 0.75);
  CHECK_FALSE(newcomer.exclusive);
  CHECK(newcomer.packed_at == at(40));
  CHECK(newcomer.nodes == resident.nodes);
  CHECK(resident.end == at(125));
  CHECK(resident.exclusive);
  CHECK(resident.unpacked_at == at(80));
  CHECK(resident.packed_at == at(0));
}

TEST_CASE("with the survivor's defect the younger of a pair stays slow when the older has ended") {
  // j1 joins at 10 with 0.75; j0 has 10 / 0.375 = 26.7 s to go and ends at 37. j1 has 79.75 left
  // then, repaired at full speed: 37 + 80; with the defect 10 + 100 / 0.75 = 143.3, so 144.
  const Trace trace = with_tables(small_trace({{0, 8, 20, 0, 0, 0}, {10, 8, 100, 0, 0, 1}}));
  CHECK(replay(trace, all_together).outcomes[1].end == at(117));
  SimOptions options;
  options.defects.survivor_keeps_rate = true;
  const SimResult result = replay(trace, all_together, options);
  CHECK(result.outcomes[0].end == at(37));
  CHECK(result.outcomes[1].end == at(144));
}

TEST_CASE("speeds of three residents multiply, also when two of them start in one plan") {
  // j0 is resident of both others: 0.375 x 0.375; j1: newcomer to j0 and resident of j2: 0.75 x
  // 0.5; j2: newcomer to both: 0.75 x 0.5.
  const Trace trace = with_tables(
      small_trace({{0, 4, 1000, 0, 0, 0}, {100, 4, 300, 0, 0, 1}, {100, 4, 600, 0, 0, 1}}));
  const SimResult result = replay(trace, all_together);
  // j1 ends at 100 + 300 / 0.375 = 900. Then j0 has 900 - 800 x 0.140625 = 787.5 left at 0.375 and
  // j2 300 at 0.75: j2 ends at 1300, j0 has 637.5 left and ends at 1938.
  CHECK(result.outcomes[1].end == at(900));
  CHECK(result.outcomes[2].end == at(1300));
  CHECK(result.outcomes[0].end == at(1938));
}

TEST_CASE("a job runs at the speed of its slowest GPU") {
  // j0 holds GPUs 0-3, j1 GPUs 2-5 (two of them shared), j2 GPUs 4-7: j1 is slowed by both.
  const auto in_a_chain = [](const View& view, Plan& plan) {
    for (const JobId id : view.arrived) {
      plan.start_on(id, {{0, std::uint64_t{0b1111} << (2 * index_of(id))}});
    }
  };
  const Trace trace =
      with_tables(small_trace({{0, 4, 40, 0, 0, 0}, {0, 4, 100, 0, 0, 1}, {0, 4, 1000, 0, 0, 0}}));
  const SimResult result = replay(trace, in_a_chain);
  // j0 as resident: 40 / 0.375, so 107. j1: min(0.75 as newcomer, 0.875 as resident), from 107 on
  // 0.875: 19.75 left, so 23 s: 130. j2 as newcomer to j1: 130 x 0.25; then 967.5 left: 1098.
  CHECK(result.outcomes[0].end == at(107));
  CHECK(result.outcomes[1].end == at(130));
  CHECK(result.outcomes[2].end == at(1098));
}

TEST_CASE("a job without a profile neither slows nor is slowed") {
  const Trace trace = with_tables(small_trace({{0, 8, 100, 0, 0, 0}, {10, 8, 50}}));
  const SimResult result = replay(trace, all_together);
  CHECK(result.outcomes[0].end == at(100));
  CHECK(result.outcomes[1].end == at(60));
}

/// The newcomer is stopped at 20 and goes on alone, on other GPUs, at 30.
void evict_newcomer(const View& view, Plan& plan) {
  if (view.now < at(20)) {
    all_together(view, plan);
    plan.wake_at(at(20));
  } else if (view.now == at(20)) {
    plan.preempt(job(1));
    plan.wake_at(at(30));
  } else if (view.now == at(30)) {
    plan.start(job(1), view.job(job(1)).gpus);
  }
}

TEST_CASE("when a sharing job is preempted both go on at full speed") {
  const Trace trace = with_tables(small_trace({{0, 8, 100, 0, 0, 0}, {10, 8, 30, 0, 0, 1}}));
  const SimResult result = replay(trace, evict_newcomer);
  // j0: 10 + 10 x 0.375 = 13.75 done at 20, then 86.25 more: 107.
  CHECK(result.outcomes[0].end == at(107));
  CHECK(result.outcomes[0].exclusive);
  // j1: 30 - 7.5 + 40 = 62.5 left at 30: 93, at its own speed.
  CHECK(result.outcomes[1].end == at(93));
  CHECK(result.outcomes[1].rate == 1);
}

TEST_CASE("used GPUs count the busy share of each GPU, a shared one once and at most whole") {
  // 8 GPUs: j0 alone 60 % for 60 s, then both 90 % for 60 s.
  const Trace trace = with_tables(small_trace({{0, 8, 1000, 0, 0, 0}, {60, 8, 1000, 0, 0, 1}}));
  const SimResult result = replay(trace, all_together);
  CHECK(near(result.timeline.bins[0].used_gpus, 8 * 0.6, 1e-12, 0));
  CHECK(near(result.timeline.bins[1].used_gpus, 8 * 0.9, 1e-12, 0));
  CHECK(near(result.timeline.bins[1].busy_gpus, 8, 1e-12, 0));
}

}  // namespace
}  // namespace schedmate::sim
