// SPDX-License-Identifier: Apache-2.0
#include "base/check.hpp"
#include "tests/fuzz/targets.hpp"
#include "trace/readers.hpp"

namespace schedmate::fuzz {
namespace {

void check(const Result<ClusterSpec>& cluster) {
  if (!cluster) {
    SCHEDMATE_CHECK(!cluster.error().message.empty(), "an error says what is wrong");
    return;
  }
  SCHEDMATE_CHECK(!cluster->partitions.empty(), "a cluster has a partition");
  for (const PartitionSpec& each : cluster->partitions) {
    SCHEDMATE_CHECK(!each.name.empty() && each.nodes >= 1, "partitions have a name and nodes");
    SCHEDMATE_CHECK(each.gpus_per_node >= 1 && each.gpus_per_node <= 64, "and 1 to 64 GPUs");
    SCHEDMATE_CHECK(each.round >= Seconds(1), "and rounds of a second or more");
  }
}

}  // namespace

/// Both spellings of a cluster: TOML and VC files.
void fuzz_cluster(std::string_view input) {
  check(trace::parse_cluster(input, "input"));
  check(trace::parse_vc_file(input, "input"));
}

}  // namespace schedmate::fuzz
