// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "tests/support/places.hpp"
#include "trace/cluster_of_trace.hpp"
#include "trace/readers.hpp"

namespace schedmate::trace {
namespace {

using testing::fixtures;

std::string complaint(std::string_view toml) {
  const auto cluster = parse_cluster(toml, "c.toml");
  return cluster ? "" : cluster.error().message;
}

}  // namespace

TEST_CASE("a VC takes the settings at the top unless it has its own") {
  const ClusterSpec cluster = read_cluster(fixtures + "clusters/mixed.toml").value();
  REQUIRE(cluster.partitions.size() == 2);
  const PartitionSpec& small = cluster.partitions[0];
  CHECK(small.name == "small");
  CHECK(small.nodes == 2);
  CHECK(small.gpus_per_node == 4);
  CHECK(small.gpu_type == "V100");
  CHECK(small.round == Seconds(1));
  const PartitionSpec& large = cluster.partitions[1];
  CHECK(large.nodes == 10);
  CHECK(large.gpu_memory_mib == 81'920);
  CHECK(large.round == Seconds(60));
}

TEST_CASE("a file goes before the cluster of the trace, and without both the way out is said") {
  Trace trace;
  const auto none = cluster_of_trace(trace, "", "helios:jobs.csv", "give one");
  CHECK(none.error().code == ErrorCode::unsupported);
  CHECK(none.error().message == "helios:jobs.csv does not describe its cluster: give one");
  trace.cluster.emplace().partitions.emplace_back().name = "own";
  CHECK(cluster_of_trace(trace, "", "t", "").value().partitions.front().name == "own");
  CHECK(cluster_of_trace(trace, fixtures + "clusters/mixed.toml", "t", "")
            .value()
            .partitions.front()
            .name == "small");
}

TEST_CASE("without VCs the cluster is one partition") {
  const ClusterSpec cluster = parse_cluster("nodes = 3", "c.toml").value();
  REQUIRE(cluster.partitions.size() == 1);
  CHECK(cluster.partitions[0].name == "all");
  CHECK(cluster.partitions[0].nodes == 3);
  CHECK(cluster.partitions[0].gpus_per_node == 8);
}

TEST_CASE("the Philly cluster has seven VCs with rounds of a minute") {
  const ClusterSpec cluster = read_cluster(fixtures + "clusters/philly.toml").value();
  CHECK(cluster.partitions.size() == 11);
  int minutes = 0;
  for (const PartitionSpec& each : cluster.partitions) minutes += each.round == Seconds(60) ? 1 : 0;
  CHECK(minutes == 7);
}

TEST_CASE("unknown keys are errors with place and nearest name") {
  CHECK(read_cluster(fixtures + "clusters/broken.toml").error().message ==
        fixtures +
            "clusters/broken.toml:5:1: unknown key 'gpu_per_node' (nearest: gpus_per_node; all: "
            "nodes, gpus_per_node, gpu_type, gpu_memory_mib, round_s, name)");
  CHECK(complaint("node = 1").find("nearest: nodes") != std::string::npos);
}

TEST_CASE("values out of range and of the wrong kind are errors with place") {
  CHECK(complaint("nodes = 0") == "c.toml:1:9: nodes must be a whole number from 1 to 1000000");
  CHECK(complaint("nodes = 1\ngpus_per_node = 65").starts_with("c.toml:2:17: gpus_per_node"));
  CHECK(complaint("nodes = 1\nround_s = 1.5").starts_with("c.toml:2:11: round_s"));
  CHECK(complaint("nodes = 1\ngpu_type = 7").starts_with("c.toml:2:12: gpu_type"));
  CHECK(complaint("vc = 7").starts_with("c.toml:1:6: vc must be a list"));
  CHECK(complaint("[[vc]]\nnodes = 1").find("name is missing here") != std::string::npos);
  CHECK(complaint("[[vc]]\nname = \"a\"").find("has no nodes") != std::string::npos);
  CHECK(complaint("nodes = 1\n[[vc]]\nname = \"a\"\n[[vc]]\nname = \"a\"")
            .starts_with("c.toml:5:8: a VC called 'a'"));
  CHECK(complaint("").find("has no nodes") != std::string::npos);
}

TEST_CASE("text that is not TOML is an error with place") {
  CHECK(complaint("nodes = = 1").starts_with("c.toml:1:"));
  CHECK(!complaint(std::string("nodes\0 = 1", 10)).empty());
  CHECK(!complaint(std::string(100'000, '[')).empty());
}

TEST_CASE("VC files have two columns whatever they are called") {
  CHECK(parse_vc_file(",num\na,9\nb,5\n", "v").value().partitions[1].nodes == 5);
  CHECK(parse_vc_file("vc,node num\r\na,9\r\n", "v").value().partitions[0].name == "a");
  CHECK(parse_vc_file(",num\na,0\n", "v").error().message.starts_with("v:2:3:"));
  CHECK(parse_vc_file(",num\na,1\na,1\n", "v").error().message.starts_with("v:3:1:"));
  CHECK(!parse_vc_file(",num\n", "v"));
  CHECK(!parse_vc_file("vc,num,more\na,1,2\n", "v"));
}

}  // namespace schedmate::trace
