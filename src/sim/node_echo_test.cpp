// SPDX-License-Identifier: Apache-2.0
#include "sim/node_echo.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "tests/support/small.hpp"

namespace schedmate::sim {
namespace {

using testing::job;

Cluster three_nodes() {
  PartitionSpec spec;
  spec.nodes = 3;
  return {spec, Placer::consolidate};
}

std::vector<std::uint32_t> labels(const Cluster& cluster) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t node = 0; node < cluster.node_end(); ++node) {
    if (cluster.active(node)) found.push_back(cluster.label(node));
  }
  return found;
}

TEST_CASE("the VC gives up its idle node of the highest number and gets node 9999 back") {
  const std::vector<NodeEcho::Change> changes{{at(10), 1}, {at(20), -1}, {at(30), 1}};
  Cluster cluster = three_nodes();
  cluster.claim(job(0), {{2, 1}});
  NodeEcho echo(changes);
  CHECK(echo.next() == at(10));
  echo.follow(cluster);
  CHECK(labels(cluster) == std::vector<std::uint32_t>{0, 2});
  CHECK(echo.next() == at(20));
  echo.follow(cluster);
  CHECK(labels(cluster) == std::vector<std::uint32_t>{0, 2, 9999});
  echo.follow(cluster);
  CHECK(labels(cluster) == std::vector<std::uint32_t>{0, 2});
  CHECK(echo.next() == never);
}

TEST_CASE("when node 9999 is busy it takes the number of the idle node that goes") {
  const std::vector<NodeEcho::Change> changes{{at(0), 1}, {at(1), -1}, {at(2), 1}};
  Cluster cluster = three_nodes();
  NodeEcho echo(changes);
  echo.follow(cluster);  // node 2 goes
  echo.follow(cluster);  // 9999 comes
  cluster.claim(job(0), {{3, 1}});
  echo.follow(cluster);
  CHECK(labels(cluster) == std::vector<std::uint32_t>{0, 1});
  CHECK(cluster.label(cluster.allocation(job(0)).front().node) == 1);
}

TEST_CASE("without an idle node nothing is given, yet node 9999 comes once") {
  const std::vector<NodeEcho::Change> changes{{at(0), 1}, {at(1), -1}, {at(2), -1}};
  Cluster cluster = three_nodes();
  for (std::uint32_t node = 0; node < 3; ++node) cluster.claim(job(node), {{node, 1}});
  NodeEcho echo(changes);
  echo.follow(cluster);
  CHECK(cluster.node_count() == 3);
  echo.follow(cluster);
  echo.follow(cluster);
  CHECK(labels(cluster) == std::vector<std::uint32_t>{0, 1, 2, 9999});
}

}  // namespace
}  // namespace schedmate::sim
