// SPDX-License-Identifier: Apache-2.0
#include "log/witness/witness.hpp"

#include <doctest/doctest.h>

namespace schedmate::witness {

TEST_CASE("a host's short name stands for the long one of the allocation, not for another's") {
  JobContext job;
  job.nodes = {"n1.a", "n2"};
  CHECK(node_of(job, "n1") == "n1.a");
  CHECK(node_of(job, "n2.b") == "n2");
  CHECK(node_of(job, "n1.b").empty());
  CHECK(node_of(job, "n11").empty());
  CHECK(node_of(job, "").empty());
}

TEST_CASE("NODE=FILE names the node, a path may hold a '='") {
  CHECK(read_kernel_log_name("n1=k.txt").node == "n1");
  CHECK(read_kernel_log_name("n1=k.txt").path == "k.txt");
  CHECK(read_kernel_log_name("logs/a=b").path == "logs/a=b");
  CHECK(read_kernel_log_name("k.txt").node.empty());
}

}  // namespace schedmate::witness
