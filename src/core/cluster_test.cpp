// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <bit>
#include <schedmate/cluster.hpp>

#include "base/random.hpp"
#include "tests/support/small.hpp"

namespace schedmate {
namespace {

using testing::job;

PartitionSpec nodes_of(int nodes, int gpus_per_node = 8) {
  PartitionSpec spec;
  spec.nodes = nodes;
  spec.gpus_per_node = gpus_per_node;
  return spec;
}

/// A consolidating cluster of 8-GPU nodes with that many busy GPUs on each, lowest first.
Cluster busy_cluster(const std::vector<int>& busy, Placer placer = Placer::consolidate) {
  Cluster cluster(nodes_of(static_cast<int>(busy.size())), placer);
  for (std::uint32_t node = 0; node < busy.size(); ++node) {
    const std::uint64_t gpus = (std::uint64_t{1} << busy[node]) - 1;
    if (gpus != 0) cluster.claim(job(1000 + node), {{node, gpus}});
  }
  return cluster;
}

Placement found(const Cluster& cluster, int gpus) {
  Placement where;
  return cluster.find(gpus, where) ? where : Placement();
}

TEST_CASE("a gang within one node goes to the fullest node that holds it, lowest free GPUs first") {
  // Free GPUs: 8, 3, 2, 3. Three fit best on nodes 1 and 3: the earlier one.
  const Cluster cluster = busy_cluster({0, 5, 6, 5});
  CHECK(found(cluster, 3) == Placement{{1, 0b1110'0000}});
  CHECK(found(cluster, 2) == Placement{{2, 0b1100'0000}});
  CHECK(found(cluster, 4) == Placement{{0, 0b0000'1111}});
  CHECK(found(cluster, 8) == Placement{{0, 0xFF}});
}

TEST_CASE("a gang within one node is not split although enough GPUs are free in all") {
  const Cluster cluster = busy_cluster({5, 5, 5});
  CHECK(cluster.free_gpus() == 9);
  CHECK(found(cluster, 4).empty());
  CHECK(found(cluster, 9).empty());
}

TEST_CASE("holes left by ended jobs are filled from the lowest GPU") {
  Cluster cluster(nodes_of(1), Placer::consolidate);
  cluster.claim(job(0), {{0, 0b0000'0011}});
  cluster.claim(job(1), {{0, 0b0000'1100}});
  CHECK(cluster.release(job(0)) == Placement{{0, 0b0000'0011}});
  CHECK(found(cluster, 3) == Placement{{0, 0b0001'0011}});
}

TEST_CASE("a gang of whole nodes takes the first wholly free nodes") {
  const Cluster cluster = busy_cluster({0, 1, 0, 0});
  CHECK(found(cluster, 16) == Placement{{0, 0xFF}, {2, 0xFF}});
  CHECK(found(cluster, 24) == Placement{{0, 0xFF}, {2, 0xFF}, {3, 0xFF}});
  CHECK(found(cluster, 32).empty());
}

TEST_CASE("the remainder goes to the next wholly free node, else to the node with most free GPUs") {
  CHECK(found(busy_cluster({0, 1, 0}), 10) == Placement{{0, 0xFF}, {2, 0b11}});
  // Whole node 2, then the emptiest of the others: node 1 with 6 free, not node 0 with 2.
  CHECK(found(busy_cluster({6, 2, 0}), 10) == Placement{{2, 0xFF}, {1, 0b0000'1100}});
  CHECK(found(busy_cluster({2, 2, 0}), 14) == Placement{{2, 0xFF}, {0, 0b1111'1100}});
  // 15 need a node with 7 free beside the whole one; there is none, and no further search.
  CHECK(found(busy_cluster({2, 2, 0}), 15).empty());
}

TEST_CASE("first fit takes whatever is free, lowest nodes first") {
  const Cluster cluster = busy_cluster({6, 8, 3}, Placer::first_fit);
  CHECK(found(cluster, 4) == Placement{{0, 0b1100'0000}, {2, 0b0001'1000}});
  CHECK(found(cluster, 8).empty());
}

TEST_CASE("spread takes whatever is free, emptiest nodes first") {
  const Cluster cluster = busy_cluster({6, 8, 3, 0}, Placer::spread);
  CHECK(found(cluster, 2) == Placement{{3, 0b11}});
  CHECK(found(cluster, 14) == Placement{{3, 0xFF}, {2, 0b1111'1000}, {0, 0b0100'0000}});
}

TEST_CASE("stranded GPUs are the free ones beside busy ones") {
  CHECK(busy_cluster({0, 5, 8, 1}).stranded_gpus() == 3 + 7);
  CHECK(busy_cluster({0, 0}).stranded_gpus() == 0);
}

TEST_CASE("a GPU is free again only when its last resident has left") {
  Cluster cluster(nodes_of(1), Placer::consolidate);
  cluster.claim(job(0), {{0, 0b11}});
  cluster.claim(job(1), {{0, 0b11}});
  CHECK(cluster.free_gpus() == 6);
  CHECK(cluster.residents(0, 1).size() == 2);
  CHECK(cluster.residents(0, 1).front() == job(0));
  cluster.release(job(0));
  CHECK(cluster.free_gpus() == 6);
  CHECK(cluster.residents(0, 0).front() == job(1));
  cluster.release(job(1));
  CHECK(cluster.free_gpus() == 8);
  CHECK(cluster.allocation(job(1)).empty());
}

TEST_CASE("nodes come, go and are renamed without moving the others") {
  Cluster cluster(nodes_of(2), Placer::consolidate);
  CHECK(cluster.add_node(9999) == 2);
  CHECK(cluster.label(2) == 9999);
  CHECK(cluster.total_gpus() == 24);
  cluster.remove_node(0);
  CHECK_FALSE(cluster.active(0));
  CHECK(cluster.node_count() == 2);
  CHECK(cluster.free_gpus() == 16);
  CHECK(found(cluster, 16) == Placement{{1, 0xFF}, {2, 0xFF}});
  cluster.relabel(2, 0);
  CHECK(cluster.label(2) == 0);
}

TEST_CASE("nodes may have 64 GPUs") {
  Cluster cluster(nodes_of(2, 64), Placer::consolidate);
  CHECK(found(cluster, 64) == Placement{{0, ~std::uint64_t{0}}});
  cluster.claim(job(0), {{0, 1}});
  CHECK(found(cluster, 127) == Placement{{1, ~std::uint64_t{0}}, {0, ~std::uint64_t{1}}});
  CHECK(found(cluster, 128).empty());
}

/// The rules of Placer::consolidate by looking at every node.
bool fits_plainly(const Cluster& cluster, int gpus) {
  int most = 0;
  int whole = 0;
  int partly = 0;  // most free GPUs of a partly used node
  for (std::uint32_t node = 0; node < cluster.node_end(); ++node) {
    if (!cluster.active(node)) continue;
    const int free = std::popcount(cluster.free_mask(node));
    most = std::max(most, free);
    if (free == cluster.gpus_per_node()) {
      ++whole;
    } else {
      partly = std::max(partly, free);
    }
  }
  if (gpus <= cluster.gpus_per_node()) return most >= gpus;
  const int rest = gpus % cluster.gpus_per_node();
  const int spare = whole - gpus / cluster.gpus_per_node();
  return spare > 0 || (spare == 0 && partly >= rest);
}

/// A placement is right when it holds exactly that many GPUs, all free, on distinct nodes.
bool is_right(const Cluster& cluster, const Placement& where, int gpus) {
  std::uint64_t nodes = 0;
  int held = 0;
  for (const Slice& slice : where) {
    if ((nodes >> slice.node & 1U) != 0 || slice.gpus == 0) return false;
    nodes |= std::uint64_t{1} << slice.node;
    if ((cluster.free_mask(slice.node) & slice.gpus) != slice.gpus) return false;
    held += std::popcount(slice.gpus);
  }
  return held == gpus;
}

TEST_CASE("find and fits agree with each other and with a plain look at all nodes") {
  for (const Placer placer : {Placer::consolidate, Placer::first_fit, Placer::spread}) {
    Random random(static_cast<std::uint64_t>(placer));
    Cluster cluster(nodes_of(6, 4), placer);
    std::vector<JobId> running;
    for (std::uint32_t i = 0; i < 3000; ++i) {
      for (int gpus = 1; gpus <= 25; ++gpus) {
        Placement where;
        REQUIRE(cluster.find(gpus, where) == cluster.fits(gpus));
        REQUIRE(cluster.fits(gpus) == (placer == Placer::consolidate
                                           ? fits_plainly(cluster, gpus)
                                           : gpus <= cluster.free_gpus()));
        if (!where.empty()) REQUIRE(is_right(cluster, where, gpus));
      }
      const Placement where = found(cluster, static_cast<int>(random.between(1, 10)));
      if (!where.empty() && random.below(2) == 0) {
        cluster.claim(job(i), where);
        running.push_back(job(i));
      } else if (!running.empty()) {
        const auto victim = static_cast<std::size_t>(random.below(std::ssize(running)));
        cluster.release(running[victim]);
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(victim));
      }
    }
  }
}

TEST_CASE("nothing starts on a drained node, and what it has counts again when it is back") {
  Cluster cluster(testing::small_cluster({2}).partitions.front(), Placer::consolidate);
  cluster.claim(job(0), {{0, 0b1111}});
  cluster.set_state(0, NodeState::drained);
  CHECK(cluster.total_gpus() == 8);
  CHECK(cluster.free_gpus() == 8);
  CHECK(cluster.draining_gpus() == 4);
  CHECK(cluster.node_count() == 1);
  CHECK(cluster.free_mask(0) == 0);
  CHECK_FALSE(cluster.fits(9));
  Placement where;
  REQUIRE(cluster.find(4, where));
  CHECK(where.front().node == 1);  // though the other would be the better fit
  CHECK(cluster.jobs_on(0) == std::vector{job(0)});
  CHECK(cluster.release(job(0)).size() == 1);
  CHECK(cluster.draining_gpus() == 0);
  CHECK(cluster.free_gpus() == 8);
  cluster.set_state(0, NodeState::down);
  cluster.set_state(0, NodeState::up);
  CHECK(cluster.total_gpus() == 16);
  CHECK(cluster.free_gpus() == 16);
  CHECK(cluster.fits(16));
  CHECK(cluster.stranded_gpus() == 0);
}

TEST_CASE("a node that is drained and comes back under a running job has what that leaves") {
  Cluster cluster(testing::small_cluster({1}).partitions.front(), Placer::consolidate);
  cluster.claim(job(0), {{0, 0b11}});
  cluster.set_state(0, NodeState::drained);
  CHECK(cluster.free_gpus() == 0);
  cluster.set_state(0, NodeState::up);
  CHECK(cluster.free_gpus() == 6);
  CHECK(cluster.draining_gpus() == 0);
  CHECK(cluster.free_mask(0) == 0b11111100);
}

TEST_CASE("a node is described as far as it is known, and can be removed when it is down") {
  Cluster cluster(testing::small_cluster({2}).partitions.front(), Placer::consolidate);
  CHECK(cluster.spec(1).name.empty());
  cluster.describe(1, {.name = "gpu-07", .type = "A100", .cpus = 64, .memory_mib = 512'000});
  CHECK(cluster.spec(1).name == "gpu-07");
  CHECK(cluster.spec(0).cpus == 0);
  cluster.set_state(1, NodeState::down);
  cluster.remove_node(1);
  CHECK_FALSE(cluster.active(1));
  CHECK_FALSE(cluster.usable(1));
  CHECK(cluster.total_gpus() == 8);
  const std::uint32_t fresh = cluster.add_node(9);
  CHECK(cluster.state(fresh) == NodeState::up);
  CHECK(cluster.spec(fresh).name.empty());
  CHECK(cluster.total_gpus() == 16);
}

}  // namespace
}  // namespace schedmate
