// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "whatif/compare.hpp"
#include "whatif/sample.hpp"
#include "whatif/world.hpp"

namespace schedmate::whatif {

using sample::past_dump;

TEST_CASE("partitions that share a node are one VC, and the node is counted once") {
  const auto dump = past_dump({{"1", "a", "gpu", 8, 0, 0, 100, {0}},
                               {"2", "a", "gpu", 16, 0, 200, 300, {1, 2}},
                               {"3", "b", "debug", 1, 0, 100, 200, {0}},
                               {"4", "b", "big", 4, 0, 100, 200, {3}}},
                              4);
  const InferredCluster seen = infer_cluster(dump).value();
  REQUIRE(seen.spec.partitions.size() == 2);
  CHECK(seen.spec.partitions[0].name == "debug+gpu");
  CHECK(seen.spec.partitions[0].nodes == 3);
  CHECK(seen.spec.partitions[0].gpus_per_node == 8);
  CHECK(seen.spec.partitions[1].name == "big");
  CHECK(seen.spec.partitions[1].gpus_per_node == 4);
  CHECK(seen.vc_of_job == std::vector<std::uint32_t>{0, 0, 0, 1});
  REQUIRE(seen.notes.size() == 1);
  CHECK(seen.notes[0] == "the partitions debug, gpu share nodes and are one virtual cluster");
}

TEST_CASE("GPUs of a node: what ran there together for a minute, not an overlap of seconds") {
  const auto together =
      past_dump({{"1", "a", "p", 3, 0, 0, 100}, {"2", "a", "p", 2, 0, 40, 200}}, 1);
  CHECK(infer_cluster(together).value().spec.partitions[0].gpus_per_node == 5);
  const auto in_turn =
      past_dump({{"1", "a", "p", 3, 0, 0, 100}, {"2", "a", "p", 2, 0, 100, 200}}, 1);
  CHECK(infer_cluster(in_turn).value().spec.partitions[0].gpus_per_node == 3);
  const auto overlap =
      past_dump({{"1", "a", "p", 3, 0, 0, 100}, {"2", "a", "p", 2, 0, 98, 200}}, 1);
  CHECK(infer_cluster(overlap).value().spec.partitions[0].gpus_per_node == 3);
  // One job's own share counts however short it was; 7 GPUs on 2 nodes are at least 3 on each.
  const auto uneven = past_dump({{"1", "a", "p", 7, 0, 0, 1, {0, 1}}}, 2);
  CHECK(infer_cluster(uneven).value().spec.partitions[0].gpus_per_node == 3);
}

TEST_CASE("GPU types of one partition on nodes of their own are VCs of their own") {
  const auto dump = past_dump(
      {{"1", "a", "gpu", 8, 0, 0, 100, {0}, "a100"}, {"2", "a", "gpu", 4, 0, 0, 100, {1}, "v100"}},
      2);
  const InferredCluster seen = infer_cluster(dump).value();
  REQUIRE(seen.spec.partitions.size() == 2);
  CHECK(seen.spec.partitions[0].name == "gpu:a100");
  CHECK(seen.spec.partitions[0].gpu_type == "a100");
  CHECK(seen.spec.partitions[1].name == "gpu:v100");
  CHECK(seen.spec.partitions[1].gpus_per_node == 4);

  const InferredCluster given =
      map_cluster(dump, {{{.name = "gpu:a100", .nodes = 9, .gpu_type = ""},
                          {.name = "gpu", .nodes = 1, .gpu_type = ""}}})
          .value();
  CHECK(given.vc_of_job == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("a given cluster: VCs by partition, 'a+b' for both, others left out and named") {
  const auto dump = past_dump(
      {{"1", "u", "a", 1, 0, 0, 9}, {"2", "u", "b", 1, 0, 0, 9}, {"3", "u", "c", 1, 0, 0, 9}}, 1);
  const InferredCluster seen =
      map_cluster(dump, {{{.name = "a+b", .nodes = 2, .gpu_type = ""}}}).value();
  CHECK(seen.vc_of_job == std::vector<std::uint32_t>{0, 0, no_index});
  REQUIRE(seen.notes.size() == 1);
  CHECK(seen.notes[0].contains("partitions c; their jobs are left out"));
}

TEST_CASE("without any GPU job CPUs are the resource, at most 64 units a node") {
  auto dump = past_dump({{"1", "a", "p", 0, 0, 0, 100}, {"2", "a", "p", 0, 0, 0, 100}}, 1);
  dump.jobs[0].cpus = 96;
  dump.jobs[1].cpus = 33;
  const InferredCluster seen = infer_cluster(dump).value();
  CHECK(seen.resource == Resource::cpus);
  CHECK(seen.unit == std::vector<std::int64_t>{3});
  CHECK(seen.spec.partitions[0].gpus_per_node == 43);
  CHECK(make_world(dump, seen, sample::same).value().trace.jobs[1].gpus == 11);
}

TEST_CASE("CPUs: a given cluster counts in units that its file or the use of a node gives") {
  auto dump = past_dump({{"1", "a", "p", 0, 0, 0, 3600}, {"2", "a", "p", 0, 0, 0, 3600}}, 1);
  dump.jobs[0].cpus = 96;
  dump.jobs[1].cpus = 33;
  const auto given = [&](int per_node, const std::string& type) {
    return map_cluster(dump,
                       {{{.name = "p", .nodes = 1, .gpus_per_node = per_node, .gpu_type = type}}})
        .value();
  };
  CHECK(given(43, "").unit == std::vector<std::int64_t>{3});  // as infer_cluster has it
  CHECK(given(43, "").notes.back().contains("p: 3 CPUs count as one, as 129 were in use"));
  CHECK(given(64, "4 CPUs").unit == std::vector<std::int64_t>{4});
  CHECK(given(64, "4 CPUs").notes.back() == "p: 4 CPUs count as one");
  CHECK(given(64, "4 CPUs").spec.partitions[0].gpu_type.empty());
  // A unit is of no matter to what is reported of jobs.
  dump.jobs[0].state = "FAILED";
  const RecordedCluster world = make_world(dump, given(64, "4 CPUs"), sample::same).value();
  CHECK(world.trace.jobs[1].gpus == 9);
  CHECK(world.past[1].amount == 33);
  CHECK(find_losses(dump, world)[0].gpu_h == 96);
}

TEST_CASE("a job that still runs in the dump does not enlarge its node") {
  auto dump = past_dump({{"5", "a", "p", 8, 0, 0, 1000, {0}},
                         {"6", "a", "p", 8, 0, 100, 500, {0}},
                         {"7", "a", "p", 8, 0, 0, 1000, {1}}},
                        2);
  CHECK(infer_cluster(dump).value().spec.partitions[0].gpus_per_node == 16);
  dump.jobs[0].running = true;
  const InferredCluster seen = infer_cluster(dump).value();
  CHECK(seen.spec.partitions[0].gpus_per_node == 8);
  REQUIRE(seen.notes.size() == 1);
  CHECK(seen.notes[0].contains("others used the same GPUs meanwhile: 5. Runaway jobs"));
  // Its own share counts, and what others left free is its own.
  dump.jobs[1].gpus = 4;
  dump.jobs[0].gpus = 4;
  CHECK_FALSE(infer_cluster(dump).value().notes.back().contains("RUNNING"));
  CHECK(map_cluster(dump, {{{.name = "p", .nodes = 2, .gpus_per_node = 4, .gpu_type = ""}}})
            .value()
            .notes.size() == 1);
}

TEST_CASE("jobs that still run and have more of a node than there is are called runaways") {
  auto dump = past_dump({{"1", "a", "p", 8, 0, 0, 500, {0}},
                         {"5", "a", "p", 8, 0, 600, 1000, {0}},
                         {"6", "a", "p", 8, 0, 700, 1000, {0}}},
                        1);
  dump.jobs[1].running = dump.jobs[2].running = true;
  CHECK(infer_cluster(dump).value().notes.back().contains("meanwhile: 5, 6. Runaway jobs"));
}

TEST_CASE("a job that may lie unevenly on its nodes is no runaway beside what fits there") {
  // 8 + 2 of the 10 GPUs, and 6 on the second node.
  auto dump = past_dump({{"1", "a", "p", 8, 0, 0, 300, {0}},
                         {"2", "a", "p", 6, 0, 0, 900, {1}},
                         {"5", "a", "p", 10, 0, 400, 1000, {0, 1}}},
                        2);
  dump.jobs[2].running = true;
  const InferredCluster seen = infer_cluster(dump).value();
  for (const std::string& note : seen.notes) CHECK_FALSE(note.contains("RUNNING"));
  dump.jobs[1].gpus = 7;
  CHECK(infer_cluster(dump).value().notes.back().contains("meanwhile: 5. Runaway jobs"));
}

TEST_CASE("a size that only several jobs together show is reported as such") {
  const auto dump = past_dump({{"1", "a", "p", 3, 0, 0, 100}, {"2", "a", "p", 2, 0, 40, 200}}, 1);
  const InferredCluster seen = infer_cluster(dump).value();
  REQUIRE(seen.notes.size() == 1);
  CHECK(seen.notes[0].starts_with(
      "p: 5 GPUs of a node were in use at once, but no single job had more than 3 there"));
}

TEST_CASE("a cluster that cannot be inferred is an error that says what to add") {
  const auto dump = past_dump({{"1", "a", "p", 1, 0, 0, 100, {}}}, 0);
  CHECK(infer_cluster(dump).error().message.contains("add NodeList"));
  const auto nothing = past_dump({{"1", "a", "p", 0, 0, 0, 100, {0}}}, 1);
  CHECK(infer_cluster(nothing).error().message.contains("none of the 1 jobs that ran has GPUs or"));
  const auto huge = past_dump({{"1", "a", "p", 65, 0, 0, 100}}, 1);
  CHECK(infer_cluster(huge).error().message.contains("65 GPUs at one time"));
}

}  // namespace schedmate::whatif
