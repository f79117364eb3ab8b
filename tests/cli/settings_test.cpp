// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace schedmate {
namespace {

using Json = nlohmann::json;

Json setting(const Ran& ran, std::string_view key) {
  REQUIRE(ran.status == 0);
  const Json document = Json::parse(ran.out);
  for (const Json& row : document["settings"]) {
    if (row["setting"] == key) return row;
  }
  return {};
}

}  // namespace

TEST_CASE("a flag wins over the settings file, and the file over the default") {
  const Scratch here;
  here.write(".config/schedmate/config.toml", "placement = \"spread\"\nseed = 5\n");
  const Ran ran = here.run({"config", "--json", "--set", "seed=9"});
  CHECK(setting(ran, "placement")["value"] == "spread");
  CHECK(setting(ran, "placement")["origin"] == here.path(".config/schedmate/config.toml"));
  CHECK(setting(ran, "seed")["value"] == "9");
  CHECK(setting(ran, "seed")["origin"] == "--set");
  CHECK(setting(ran, "threads")["origin"] == "default");
  CHECK(setting(ran, "overhead_small_s")["unit"] == "s");
}

TEST_CASE("--config takes the place of the usual settings file") {
  const Scratch here;
  here.write(".config/schedmate/config.toml", "seed = 5\n");
  here.write("mine.toml", "threads = 2\n");
  const Ran ran = here.run({"config", "--json", "--config", "mine.toml"});
  CHECK(setting(ran, "seed")["value"] == "1");
  CHECK(setting(ran, "threads")["value"] == "2");
}

TEST_CASE("defects follow the mode unless they are set one by one") {
  const Scratch here;
  here.write("mine.toml", "mode = \"reference\"\n[defects]\nlate_end = false\n");
  const Ran ran = here.run({"config", "--json", "--config", "mine.toml"});
  CHECK(setting(ran, "defects.node_echo")["value"] == "true");
  CHECK(setting(ran, "defects.node_echo")["origin"] == "mode");
  CHECK(setting(ran, "defects.late_end")["value"] == "false");
}

TEST_CASE("a wrong key, value or line of a settings file is named with its place") {
  const Scratch here;
  const auto complaint = [&](std::string_view text) {
    here.write("mine.toml", text);
    const Ran ran = here.run({"list", "--config", "mine.toml"});
    CHECK(ran.status == 3);
    return ran.err;
  };
  CHECK(complaint("seed = 1\nplacment = \"spread\"\n").contains("mine.toml:2:"));
  CHECK(complaint("placment = \"spread\"\n").contains("nearest: placement"));
  CHECK(complaint("[defects]\nlate_ends = true\n").contains("nearest: defects.late_end"));
  CHECK(complaint("threads = 0\n").contains("of at least 1"));
  CHECK(complaint("seed = [1]\n").contains("must be a value or a list of texts"));
  CHECK(complaint("seed = \n").contains("mine.toml:1:"));
}

TEST_CASE("shares of the same failures that are more than all of them are refused") {
  const Scratch here;
  here.write("jobs.csv", "job_id,user,vc,gpu_num,state,submit_s,duration_s\n1,u,a,1,,0,5\n");
  here.write("cluster.toml", "[[vc]]\nname = \"a\"\nnodes = 2\ngpus_per_node = 4\n");
  const auto simulate = [&](const std::string& by_scripts) {
    return here.run({"simulate", "--trace", "helios:jobs.csv", "--cluster", "cluster.toml",
                     "--policy", "fifo", "--set", "cost.framework_pct=60", "--set",
                     "cost.script_pct=" + by_scripts, "--report", "none", "--out", "out"});
  };
  CHECK(simulate("40").status == 0);
  const Ran refused = simulate("41");
  CHECK(refused.status == 2);
  CHECK(
      refused.err.contains("cost.script_pct are shares of the same failures, but add up to 101 %"));
}

TEST_CASE("failures so frequent that no checkpoint is reached are refused, not replayed forever") {
  const Scratch here;
  here.write("jobs.csv",
             "job_id,user,vc,gpu_num,state,submit_s,duration_s\n"
             "small,ann,p,1,COMPLETED,0,7200\nlarge,ann,p,64,COMPLETED,0,7200\n");
  here.write("cluster.toml", "[[vc]]\nname = \"p\"\nnodes = 8\ngpus_per_node = 8\n");
  const auto run = [&](const std::string& setting) {
    return here.run({"simulate", "--trace", "helios:jobs.csv", "--cluster", "cluster.toml",
                     "--policy", "fifo", "--set", setting, "--out", "out"});
  };
  const Ran refused = run("cost.failure_gpu_hours=2");
  CHECK(refused.status == 2);
  CHECK(refused.err.contains("cost.failure_gpu_hours=2: job large on 64 GPUs would need about "));
  CHECK(refused.err.contains("lower cost.checkpoint_s (1800 s)"));
  CHECK(run("cost.failure_gpu_hours=10").status == 0);
}

TEST_CASE("costs of failures are called idle where nothing fails") {
  const Scratch here;
  here.write("jobs.csv",
             "job_id,user,vc,gpu_num,state,submit_s,duration_s\n1,ann,p,1,COMPLETED,0,100\n");
  here.write("cluster.toml", "[[vc]]\nname = \"p\"\nnodes = 1\ngpus_per_node = 1\n");
  std::vector<std::string> command{
      "simulate",  "--trace", "helios:jobs.csv",     "--cluster", "cluster.toml", "--policy",
      "schedmate", "--set",   "cost.bad_node_pct=5", "--out",     "out"};
  const std::string sentence =
      "cost.bad_node_pct=5 changes nothing: no job fails while cost.failure_gpu_hours is 0";
  CHECK(here.run(command).out.contains("warning: " + sentence + "\n"));
  command.emplace_back("--json");
  const auto document = nlohmann::json::parse(here.run(command).out);
  CHECK(document["idle_settings"] == nlohmann::json{sentence});
  command.insert(command.end(), {"--set", "cost.failure_gpu_hours=1000"});
  CHECK(nlohmann::json::parse(here.run(command).out)["idle_settings"].empty());
}

TEST_CASE("settings reach the simulator") {
  const Scratch here;
  here.write("jobs.csv",
             "job_id,user,vc,gpu_num,state,submit_s,duration_s\n1,u,a,1,,0,5\n2,u,a,1,,0,5\n");
  here.write("cluster.toml", "[[vc]]\nname = \"a\"\nnodes = 2\ngpus_per_node = 4\n");
  const auto second = [&](const std::string& placement) {
    REQUIRE(here.run({"simulate", "--trace", "helios:jobs.csv", "--cluster", "cluster.toml",
                      "--policy", "fifo", "--set", "placement=" + placement, "--report", "none",
                      "--out", placement})
                .status == 0);
    return here.read(placement + "/fifo.jobs.csv");
  };
  CHECK(second("consolidate").contains(",0:1,finished"));
  CHECK(second("spread").contains(",1:0,finished"));
}

}  // namespace schedmate
