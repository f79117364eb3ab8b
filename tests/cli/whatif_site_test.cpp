// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lab/whatif_sites.hpp"
#include "tests/cli/whatif_world.hpp"

namespace schedmate {
namespace {

std::string variant_of(std::string_view site) {
  const auto made = lab::with_schedmate(study::parse_policy(site).value()).value();
  return made ? made->text : "";
}

/// 3 nodes of 8 GPUs, 300 jobs of 4 to 8 GPUs one after the other on each.
std::string nodes_of_eight() {
  std::string text = "JobID|User|Partition|State|Submit|Eligible|Start|End|AllocTRES|NodeList\n";
  for (int i = 0; i < 300; ++i) {
    const int start = 1'000'000 + 1000 * (i / 3);
    text += fmt::format("{}|ann|p|COMPLETED|{}|{}|{}|{}|gres/gpu={}|gpu{}\n", 10 + i, start - 300,
                        start - 300, start, start + 1000, i % 2 == 0 ? 8 : 4, i % 3 + 1);
  }
  return text;
}

/// Jobs of 128 CPUs and of fewer, ten of which failed after an hour.
std::string node_of_cpus() {
  std::string text =
      "JobID|User|Partition|State|ExitCode|Submit|Eligible|Start|End|AllocTRES|NodeList\n";
  for (int i = 0; i < 40; ++i) {
    const int start = 1'000'000 + 3600 * i;
    const bool failed = i % 4 == 0;
    text += fmt::format("{}|ann|p|{}|1:0|{}|{}|{}|{}|cpu={}|n1\n", 10 + i,
                        failed ? "FAILED" : "COMPLETED", start - 60, start - 60, start,
                        start + 3600, failed ? 128 : 1 + i);
  }
  return text;
}

}  // namespace

TEST_CASE("whatif: the site with SchedMate has the site's settings and the variant's own") {
  CHECK(variant_of("slurm_backfill:weight_age=0,bf_interval=1,estimate=column:limit_s@replay") ==
        "slurm_backfill+sm:bf_interval=1,weight_age=0,estimate=column:limit_s@site_sm");
  CHECK(variant_of("slurm_backfill:weight_shortness=0") == "slurm_backfill+sm@site_sm");
  CHECK(variant_of("tiresias") == "tiresias+sm@site_sm");
  CHECK(variant_of("fifo").empty());
  CHECK(variant_of("qssf+sm").empty());
}

TEST_CASE("whatif: what SchedMate adds is measured against the site that was taken") {
  const Scratch here;
  const Ran ran = whatif(here, testbed_dump, {"--json"});
  REQUIRE_MESSAGE(ran.status == 0, ran.err);
  const auto document = nlohmann::json::parse(ran.out);
  const std::string site = document["replay"]["policy"];
  CHECK(site.contains("weight_age=0"));
  const auto& arm = document["policies"][0];
  CHECK(arm["label"] == "site_sm");
  CHECK(arm["policy"] == variant_of(site));
  CHECK(document["policies"].size() == 5);
  // Every job is expected to last a minute at most, which is all the same to the factor.
  CHECK(arm["all"]["mean_ln_jct_ratio"] == 0);
  CHECK(whatif(here, testbed_dump)
            .out.contains("site_sm has no row: every job starts and ends as in the replay.\n"));
}

TEST_CASE("whatif: a site that SchedMate has no variant of is reported, and no other stands in") {
  const Scratch here;
  const Ran ran = whatif(here, testbed_dump, {"--site", "fifo", "--json"});
  REQUIRE_MESSAGE(ran.status == 0, ran.err);
  const auto document = nlohmann::json::parse(ran.out);
  CHECK(document["policies"].size() == 4);
  REQUIRE(document["notes"].size() == 1);
  CHECK(document["notes"][0] ==
        "the site's fifo with SchedMate is not tried: there is no policy fifo+sm");
  CHECK(whatif(here, testbed_dump, {"--site", "fifo"}).out.contains("there is no policy fifo+sm"));
  // Whoever names policies gets these.
  const Ran named =
      whatif(here, testbed_dump, {"--site", "fifo", "--policy", "tiresias", "--json"});
  CHECK(nlohmann::json::parse(named.out)["notes"].empty());
}

TEST_CASE("whatif: a runaway job is named and does not double the nodes") {
  const Scratch here;
  const auto cluster_of = [&](const std::string& text) {
    here.write("dump.txt", text);
    const Ran ran = whatif(here, "dump.txt", {"--policy", "fifo", "--json"});
    REQUIRE_MESSAGE(ran.status < 2, ran.err);
    return nlohmann::json::parse(ran.out)["cluster"];
  };
  const auto sound = cluster_of(nodes_of_eight());
  CHECK(sound["vcs"][0]["gpus_per_node"] == 8);
  CHECK(sound["notes"].empty());
  const auto stale = cluster_of(
      nodes_of_eight() + "5|ann|p|RUNNING|1000000|1000000|1000000|Unknown|gres/gpu=8|gpu2\n");
  CHECK(stale["vcs"] == sound["vcs"]);
  REQUIRE(stale["notes"].size() == 1);
  CHECK(stale["notes"][0].get<std::string>().contains("meanwhile: 5. Runaway jobs"));
}

TEST_CASE("whatif: CPUs are reported as CPUs, and the cluster that was seen can be given back") {
  const Scratch here;
  here.write("dump.txt", node_of_cpus());
  const Words more{"--policy", "fifo", "--json"};
  const auto run = [&](const Words& extra) {
    Words words = more;
    words.insert(words.end(), extra.begin(), extra.end());
    const Ran ran = whatif(here, "dump.txt", words);
    REQUIRE_MESSAGE(ran.status == 0, ran.err);
    return nlohmann::json::parse(ran.out);
  };
  const auto seen = run({"--out", "out"});
  CHECK(seen["failures"][0]["gpu_h"] == 1280);
  CHECK(seen["cluster"]["vcs"][0]["unit"] == 2);
  const auto& sizes = seen["policies"][0]["by_size"];
  CHECK(std::ranges::any_of(sizes, [](const auto& row) { return row["name"] == ">32"; }));
  const auto given = run({"--cluster", "out/cluster.toml"});
  for (const char* part : {"replay", "policies", "failures"}) CHECK(given[part] == seen[part]);
  CHECK(given["cluster"]["vcs"] == seen["cluster"]["vcs"]);
  CHECK(whatif(here, "dump.txt").out.contains("p: 1 node of 64 x 2 CPUs\n"));
  // Without the unit it follows from the use of a node; what cannot be written is explained.
  here.write("mine.toml", "[[vc]]\nname = \"p\"\nnodes = 1\ngpus_per_node = 64\n");
  CHECK(run({"--cluster", "mine.toml"})["replay"] == seen["replay"]);
  here.write("mine.toml", "[[vc]]\nname = \"p\"\nnodes = 1\ngpus_per_node = 128\n");
  const Ran large = whatif(here, "dump.txt", {"--cluster", "mine.toml"});
  CHECK(large.status == 3);
  CHECK(large.err.contains("gpus_per_node = 64 and gpu_type = \"2 CPUs\""));
}

}  // namespace schedmate
