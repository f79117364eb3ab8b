// SPDX-License-Identifier: Apache-2.0
/// The checks themselves: each finds what it is there for.
#include "tests/conformance/properties.hpp"

#include <doctest/doctest.h>

#include "tests/support/need.hpp"
#include "tests/support/small.hpp"

namespace schedmate::conformance {
namespace {

/// Two jobs, one after the other on one node, replayed by fifo.
struct TwoJobs {
  World world{testing::small_trace({{0, 8, 100}, {10, 8, 50}}), testing::small_cluster({2})};
  Scheduler scheduler =
      testing::need(make_scheduler("fifo", {world.cluster, {}, 1, forecast_of(world.trace)}, {}));
  SimOptions options;
  SimResult result = testing::need(simulate(world.trace, world.cluster, scheduler, options));

  [[nodiscard]] Complaints complaints(std::size_t most = 1) const {
    const Replay replay{world, scheduler, options, result};
    Complaints all = check_jobs(replay, {});
    const Complaints more = check_capacity(replay, {}, most);
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

TEST_CASE("a right replay has nothing to complain of") { CHECK(TwoJobs().complaints().empty()); }

TEST_CASE("a lost job, a wrong gang and a wrong time are found") {
  TwoJobs lost;
  lost.result.outcomes[0].status = JobStatus::stalled;
  CHECK(lost.complaints() == Complaints{"j0: it never ends"});
  TwoJobs refused;
  refused.result.outcomes[0].status = JobStatus::infeasible;
  CHECK(refused.complaints().front() == "j0: infeasible or not?");
  TwoJobs partial;
  partial.result.outcomes[0].nodes = {{0, 0b111}};
  CHECK(partial.complaints() == Complaints{"j0: 3 of 8 GPUs"});
  TwoJobs twice;
  twice.result.outcomes[0].nodes = {{0, 0x0F}, {0, 0xF0}};
  CHECK(twice.complaints() == Complaints{"j0: a node twice"});
  TwoJobs early;
  early.result.outcomes[1].start = at(9);
  CHECK(early.complaints() == Complaints{"j1: it starts before its submission"});
  TwoJobs brief;
  brief.result.outcomes[1].end -= Seconds(1);
  CHECK(brief.complaints() == Complaints{"j1: it runs 49 s and holds its GPUs for 50"});
  TwoJobs idle;
  idle.result.outcomes[1].end += Seconds(1);
  idle.result.outcomes[1].held_gpu_s += 8;
  CHECK(idle.complaints() == Complaints{"j1: it runs 51 s for 50 s of work"});
  TwoJobs taxed;
  taxed.result.outcomes[1].overhead_gpu_s = 8;
  CHECK(taxed.complaints() == Complaints{"j1: 8 GPU seconds of overhead"});
}

TEST_CASE("two jobs on one GPU are found, unless sharing is allowed") {
  TwoJobs both;
  both.result.outcomes[1].nodes = both.result.outcomes[0].nodes;
  CHECK(both.complaints().size() == 8);
  CHECK(both.complaints().front() == "2 jobs on GPU 0:0 at 10");
  CHECK(both.complaints(2).empty());
}

TEST_CASE("the watch sees sharing and a cluster that is larger than it should be") {
  TwoJobs large;
  World smaller{testing::small_trace({{0, 8, 100}}), testing::small_cluster({1})};
  Watch watch(smaller, large.scheduler, {});
  large.options.observer = [&](const SimOptions::Moment& moment) { watch.look(moment); };
  CHECK(simulate(large.world.trace, large.world.cluster, large.scheduler, large.options));
  REQUIRE_FALSE(watch.complaints().empty());
  CHECK(watch.complaints().front() == "vc0 at 0: the VC has more GPUs than the cluster file says");
  CHECK_FALSE(watch.shared());
}

TEST_CASE("any difference between two results shows in their texts") {
  TwoJobs one;
  TwoJobs other;
  CHECK(text_of(one.result) == text_of(other.result));
  other.result.outcomes[1].rate = 0.999;
  CHECK(text_of(one.result) != text_of(other.result));
}

TEST_CASE("the random worlds hold what they promise") {
  int gangs = 0;
  int too_large = 0;
  int profiled = 0;
  int several_vcs = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const World world = random_world(seed);
    several_vcs += world.trace.vcs.size() > 1 ? 1 : 0;
    for (const Job& job : world.trace.jobs) {
      const PartitionSpec& vc = world.cluster.partitions[job.vc];
      gangs += job.gpus > vc.gpus_per_node ? 1 : 0;
      too_large += job.gpus > vc.gpus_per_node * vc.nodes ? 1 : 0;
      profiled += job.profile != no_index ? 1 : 0;
    }
  }
  CHECK(several_vcs > 100);
  CHECK(gangs > 300);
  CHECK(too_large > 30);
  CHECK(profiled > 300);
}

}  // namespace
}  // namespace schedmate::conformance
