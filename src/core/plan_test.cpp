// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <schedmate/policy.hpp>

#include "tests/support/small.hpp"

namespace schedmate {
namespace {

using testing::job;

using Kind = Plan::Decision::Kind;

struct OneNode {
  Cluster cluster{[] {
                    PartitionSpec spec;
                    spec.nodes = 1;
                    return spec;
                  }(),
                  Placer::consolidate};
  Plan plan{cluster, at(100)};
};

TEST_CASE("a decision shows in the cluster at once, so that the next question sees it") {
  OneNode world;
  CHECK(world.plan.start(job(0), 6));
  CHECK_FALSE(world.plan.start(job(1), 3));
  CHECK(world.cluster.allocation(job(1)).empty());
  world.plan.preempt(job(0));
  CHECK(world.plan.start(job(1), 3));
  REQUIRE(world.plan.decisions().size() == 3);
  CHECK(world.plan.decisions()[0].job == job(0));
  CHECK(world.plan.decisions()[1].kind == Kind::preempt);
  CHECK(world.plan.decisions()[2].job == job(1));
}

TEST_CASE("a start is marked as sharing only when one of its GPUs is held by another") {
  OneNode world;
  world.plan.start_on(job(0), {{0, 0b0011}});
  world.plan.start_on(job(1), {{0, 0b1100}});
  world.plan.start_on(job(2), {{0, 0b11000}});
  world.plan.start_with(job(3), job(0));
  CHECK_FALSE(world.plan.decisions()[0].shares);
  CHECK_FALSE(world.plan.decisions()[1].shares);
  CHECK(world.plan.decisions()[2].shares);
  CHECK(world.plan.decisions()[3].shares);
  CHECK(world.cluster.allocation(job(3)) == world.cluster.allocation(job(0)));
}

TEST_CASE("the earliest wish to be called counts, until the next call") {
  OneNode world;
  CHECK(world.plan.wake() == never);
  world.plan.wake_at(at(500));
  world.plan.wake_at(at(300));
  world.plan.wake_at(at(400));
  CHECK(world.plan.wake() == at(300));
  world.plan.clear(at(300));
  CHECK(world.plan.wake() == never);
  CHECK(world.plan.decisions().empty());
}

TEST_CASE("node changes carry the time of the call") {
  OneNode world;
  const std::uint32_t extra = world.plan.add_node(9999);
  CHECK(world.cluster.total_gpus() == 16);
  CHECK(world.plan.node_changes().front() == std::pair(at(100), 1));
  world.plan.clear(at(200));
  world.plan.remove_node(extra);
  CHECK(world.plan.node_changes().front() == std::pair(at(200), -1));
  CHECK(world.cluster.total_gpus() == 8);
}

}  // namespace
}  // namespace schedmate
