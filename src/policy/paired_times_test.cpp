// SPDX-License-Identifier: Apache-2.0
#include "policy/paired_times.hpp"

#include <doctest/doctest.h>

#include "tests/support/small.hpp"

namespace schedmate::policy {
namespace {

/// One node of 8 GPUs; job 0 holds them until 100, job 1 shares them until 150.
struct PairedWorld {
  PairedWorld() {
    cluster.claim(JobId{0}, where);
    times.start(JobId{0}, where, at(100));
    cluster.claim(JobId{1}, where);
    times.join({JobId{1}, JobId{0}, at(150), at(110)});
  }
  void end(std::uint32_t job) {
    cluster.release(JobId{job});
    times.leave(JobId{job}, cluster);
  }
  Placement where{{0, 0xff}};
  Cluster cluster{testing::small_cluster({1}).partitions.front(), Placer::consolidate};
  PairedTimes times{cluster};
};

TEST_CASE("shared GPUs are free when both jobs have ended") {
  PairedWorld world;
  CHECK(world.times.earliest(8) == at(150));
  CHECK(world.times.until(JobId{0}) == at(110));
}

TEST_CASE("whoever ends first, the other holds them on") {
  PairedWorld first;
  first.end(0);
  CHECK(first.times.earliest(8) == at(150));
  first.end(1);
  CHECK(first.times.earliest(8) == SimTime::min());
  PairedWorld second;
  second.end(1);
  CHECK(second.times.earliest(8) == at(110));
  second.end(0);
  CHECK(second.times.earliest(8) == SimTime::min());
}

TEST_CASE("a node that came without notice is there for the next start") {
  PairedWorld world;
  const std::uint32_t node = world.cluster.add_node(7);
  world.times.follow_size(world.cluster);
  CHECK(world.times.earliest(8) == SimTime::min());
  world.cluster.claim(JobId{2}, {{node, 0xff}});
  world.times.start(JobId{2}, {{node, 0xff}}, at(50));
  CHECK(world.times.earliest(8) == at(50));
}

TEST_CASE("both may end at once") {
  PairedWorld world;
  world.cluster.release(JobId{0});
  world.cluster.release(JobId{1});
  world.times.leave(JobId{0}, world.cluster);
  world.times.leave(JobId{1}, world.cluster);
  CHECK(world.times.earliest(8) == SimTime::min());
}

}  // namespace
}  // namespace schedmate::policy
