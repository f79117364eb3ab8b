// SPDX-License-Identifier: Apache-2.0
#include "elastic/gpu_types.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "base/input.hpp"
#include "tests/support/places.hpp"

namespace schedmate::elastic {
namespace {

std::vector<std::int32_t> gpu_counts(const ElasticCluster& cluster) {
  std::vector<std::int32_t> counts;
  for (const Configuration& each : configurations_of(cluster)) counts.push_back(each.gpus);
  return counts;
}

ElasticCluster one_type(std::int32_t nodes, std::int32_t gpus_per_node) {
  return {"one", {GpuType{"a", nodes, gpus_per_node, nodes}}};
}

TEST_CASE("the bundled sia64 has 64 GPUs and 19 configurations (sia.md 6.2)") {
  const std::string path = testing::data + "elastic/sia64.toml";
  const auto cluster = parse_elastic_cluster(read_file(path).value(), path);
  REQUIRE(cluster);
  CHECK(cluster->name == "sia64");
  CHECK(cluster->gpus() == 64);
  CHECK(gpu_counts(*cluster) == std::vector<std::int32_t>{1, 2, 4, 8, 12, 16, 20, 24,  // aws
                                                          1, 2, 4, 8, 16,              // dgx-ext
                                                          1, 2, 4, 8, 16, 24});        // rtx
  const auto all = configurations_of(*cluster);
  CHECK(all[4] == Configuration{0, 3, 12});
  CHECK(all[8] == Configuration{1, 1, 1});
  CHECK(all.back() == Configuration{2, 3, 24});
}

TEST_CASE("nodes of one GPU are handed out whole") {
  CHECK(gpu_counts(one_type(4, 1)) == std::vector<std::int32_t>{1, 2, 3, 4});
}

TEST_CASE("a node that is no power of two is its own last step") {
  CHECK(gpu_counts(one_type(3, 6)) == std::vector<std::int32_t>{1, 2, 4, 6, 12, 18});
  CHECK(gpu_counts(one_type(1, 3)) == std::vector<std::int32_t>{1, 2, 3});
}

TEST_CASE("no job is spread over more nodes than were measured") {
  ElasticCluster cluster = one_type(32, 4);
  cluster.types[0].measured_nodes = 2;
  CHECK(gpu_counts(cluster) == std::vector<std::int32_t>{1, 2, 4, 8});
  CHECK(cluster.gpus() == 128);
}

TEST_CASE("all nodes count as measured where a file says nothing") {
  const auto cluster = parse_elastic_cluster(
      "name = \"c\"\n[[type]]\nname = \"a\"\nnodes = 3\ngpus_per_node = 2\n", "c.toml");
  REQUIRE(cluster);
  CHECK(cluster->types[0].measured_nodes == 3);
  CHECK(gpu_counts(*cluster) == std::vector<std::int32_t>{1, 2, 4, 6});
}

TEST_CASE("names with a path in them are distinguished") {
  for (const char* plain : {"dgx-ext", "a..b", "...", "bert"}) CHECK(is_folder_name(plain));
  for (const char* path : {"..", ".", "a/b", "../a", "/a", "a/"}) CHECK_FALSE(is_folder_name(path));
}

}  // namespace
}  // namespace schedmate::elastic
