// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "tests/cli/program.hpp"
#include "tests/support/near.hpp"

namespace schedmate {
namespace {

using testing::near;

std::vector<std::string> generate(const std::string& seed, const std::string& out) {
  return {"generate", "--from", "venus",  "--jobs", "20000", "--gpus", "2160",
          "--load",   "0.8",    "--seed", seed,     "--out", out};
}

}  // namespace

TEST_CASE("generate writes real rows with new times that simulate reads at the load asked for") {
  const Scratch here;
  REQUIRE(here.run(generate("3", "made")).status == 0);
  CHECK(here.files("made") == std::vector<std::string>{"cluster.toml", "jobs.csv"});
  const std::string text = here.read("made/jobs.csv");
  const auto lines = split(text, '\n');
  REQUIRE(lines.size() == 20'002);  // header, rows, the end of the last line
  CHECK(lines[0] ==
        "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_s,duration_s,syn_source_job");

  const Ran ran =
      here.run({"simulate", "--trace", "helios:made/jobs.csv", "--cluster", "made/cluster.toml",
                "--policy", "fifo", "--report", "none", "--json", "--out", "out"});
  REQUIRE(ran.status == 0);
  const auto document = nlohmann::json::parse(ran.out);
  CHECK(document["trace"]["kept"] == 20'000);
  CHECK(document["trace"]["out_of_order"] == 0);
  CHECK(document["cluster"]["gpus"] == 2160);
  CHECK(document["labels"]["fifo"]["infeasible"] == 0);
  CHECK(near(document["labels"]["fifo"]["offered_load"].get<double>(), 0.8, 0.01, 0));
}

TEST_CASE("the same seed gives the same bytes, another seed other ones") {
  const Scratch here;
  REQUIRE(here.run(generate("3", "a")).status == 0);
  REQUIRE(here.run(generate("3", "b")).status == 0);
  REQUIRE(here.run(generate("4", "c")).status == 0);
  CHECK(here.read("a/jobs.csv") == here.read("b/jobs.csv"));
  CHECK(here.read("a/jobs.csv") != here.read("c/jobs.csv"));
  CHECK(here.read("a/cluster.toml") == here.read("b/cluster.toml"));
}

TEST_CASE("a load of 0 is called no load, not a missing flag") {
  const Scratch here;
  const Ran ran = here.run({"generate", "--from", "venus", "--jobs", "3", "--gpus", "16", "--load",
                            "0", "--out", "made"});
  CHECK(ran.status == 2);
  CHECK(ran.err.contains("--load 0: must be a number above 0"));
}

TEST_CASE("generate: a number of 0 is refused, not taken for a missing flag") {
  const Scratch here;
  for (const auto& flag : std::vector<std::string>{"--jobs", "--gpus", "--most-gpus"}) {
    for (const auto& value : std::vector<std::string>{"0", "-3", "1.5"}) {
      const Ran ran = here.run({"generate", "--like", "saturn", flag, value, "--out", "made"});
      CAPTURE(ran.err);
      CHECK(ran.status == 2);
      CHECK(ran.err == fmt::format("schedmate: {}: must be a whole number of at least 1, not {}\n",
                                   flag, value));
    }
  }
  CHECK(here.files("made").empty());
  const Ran ran = here.run({"generate", "--from", "venus", "--jobs", "0", "--gpus", "16", "--load",
                            "1", "--out", "made"});
  CHECK(ran.status == 2);
  CHECK(ran.err.contains("--jobs: must be a whole number of at least 1, not 0"));
}

TEST_CASE("names that mean something in CSV or TOML come back as they were") {
  const Scratch here;
  here.write("source.csv",
             "job_id,user,vc,gpu_num,state,submit_s,duration_s\n"
             "\"a,1\",\"o\"\"neill\",\"v \\ 1\",2,FAILED,5,100\n");
  here.write("source.toml",
             "[[vc]]\nname = 'v \\ 1'\nnodes = 2\ngpus_per_node = 4\nround_s = 60\n");
  REQUIRE(here.run({"generate", "--from", "helios:source.csv", "--cluster", "source.toml", "--jobs",
                    "3", "--gpus", "16", "--load", "0.5", "--out", "made"})
              .status == 0);
  const Ran ran =
      here.run({"simulate", "--trace", "helios:made/jobs.csv", "--cluster", "made/cluster.toml",
                "--policy", "fifo", "--report", "none", "--json", "--out", "out"});
  REQUIRE(ran.status == 0);
  const auto document = nlohmann::json::parse(ran.out);
  CHECK(document["cluster"]["vcs"]["v \\ 1"]["nodes"] == 4);
  CHECK(document["cluster"]["vcs"]["v \\ 1"]["round_s"] == 60);
  CHECK(document["labels"]["fifo"]["by_user"].contains("o\"neill"));
  CHECK(here.read("made/jobs.csv").contains("\"a,1\""));
}

TEST_CASE("generate --like writes a synthetic month that says so and that simulate runs") {
  const Scratch here;
  const Ran made = here.run({"generate", "--like", "acme-kalos", "--seed", "2", "--out", "made"});
  CHECK(made.status == 0);
  CHECK(made.out.starts_with("synthetic, like Kalos: 6157 jobs for 2416 GPUs, load 0.2"));
  CHECK(made.out.contains("statistic"));
  CHECK(!made.out.contains("too far"));
  CHECK(here.read("made/cluster.toml").starts_with("# Synthetic"));
  const std::string text = here.read("made/jobs.csv");
  const auto header = split(std::string_view(text).substr(0, text.find('\n')), ',');
  const std::vector<std::string_view> helios = {"job_id", "user",     "vc",        "gpu_num",
                                                "state",  "submit_s", "duration_s"};
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (i < helios.size()) CHECK(header[i] == helios[i]);
    if (i >= helios.size()) CHECK(header[i].starts_with("syn_"));
  }
  CHECK(header.size() == 15);
  const Ran ran =
      here.run({"simulate", "--trace", "helios:made/jobs.csv", "--cluster", "made/cluster.toml",
                "--policy", "fifo", "--report", "none", "--json", "--out", "out"});
  REQUIRE(ran.status == 0);
  const auto document = nlohmann::json::parse(ran.out);
  CHECK(document["trace"]["kept"] == 6157);
  CHECK(document["trace"]["out_of_order"] == 0);
  CHECK(document["labels"]["fifo"]["infeasible"] == 0);
  CHECK(near(document["labels"]["fifo"]["offered_load"].get<double>(), 0.263, 0.05, 0));
}

TEST_CASE("generate --like: where jobs are capped, what is written is reported beside the table") {
  const Scratch here;
  const std::vector<std::string> command{"generate",    "--like", "acme-kalos", "--days", "60",
                                         "--most-gpus", "8",      "--out",      "made"};
  const Ran ran = here.run(command);
  CHECK(ran.out.contains("the table shows the draw before the cut; a written job has "));
  auto with_json = command;
  with_json.emplace_back("--json");
  const auto document = nlohmann::json::parse(here.run(with_json).out);
  double gpus = 0;
  double rows = 0;
  for (const auto line : split(std::string_view(here.read("made/jobs.csv")), '\n')) {
    const auto cells = split(line, ',');
    if (cells.size() < 4 || cells[3] == "gpu_num") continue;
    gpus += *parse_number<double>(cells[3]);
    rows += 1;
  }
  CHECK(document["jobs"] == rows);
  CHECK(near(document["written_mean_gpus"].get<double>(), gpus / rows, 1e-12, 0));
  CHECK(document["written_mean_gpus"].get<double>() <= 8);
}

TEST_CASE("generate --like: one seed, one file") {
  const Scratch here;
  const auto made = [&](const std::string& seed, const std::string& out) {
    return here.run({"generate", "--like", "saturn", "--days", "5", "--seed", seed, "--out", out})
        .status;
  };
  CHECK(made("3", "a") <= 1);
  CHECK(made("3", "b") <= 1);
  CHECK(made("4", "c") <= 1);
  CHECK(here.read("a/jobs.csv") == here.read("b/jobs.csv"));
  CHECK(here.read("a/jobs.csv") != here.read("c/jobs.csv"));
}

TEST_CASE("generate --like ends with 1, a table and the files when a figure cannot be met") {
  const Scratch here;
  std::string figures = contents(SCHEDMATE_SOURCE_DIR "/data/synth/acme-kalos.toml");
  const std::string mean = "mean_run_s = 1259.689";
  REQUIRE(figures.contains(mean));
  figures.replace(figures.find(mean), mean.size(), "mean_run_s = 5000");
  here.write("odd.toml", figures);
  const Ran ran = here.run({"generate", "--like", "odd.toml", "--json", "--out", "made"});
  CHECK(ran.status == 1);
  const auto document = nlohmann::json::parse(ran.out);
  CHECK(document["synthetic"] == true);
  CHECK(document["holds"] == false);
  CHECK(document["checks"][0]["statistic"] == "mean run s");
  CHECK(document["checks"][0]["holds"] == false);
  CHECK(here.files("made") == std::vector<std::string>{"cluster.toml", "jobs.csv"});
  const Ran text = here.run({"generate", "--like", "odd.toml", "--out", "made"});
  CHECK(text.status == 1);
  CHECK(text.out.contains("too far"));
}

TEST_CASE("generate --like: a smaller cluster says how many jobs it capped") {
  const Scratch here;
  const Ran ran =
      here.run({"generate", "--like", "acme-seren", "--gpus", "64", "--out", "made", "--json"});
  const auto document = nlohmann::json::parse(ran.out);
  CHECK(document["gpus"] == 64);
  CHECK(document["capped"].get<int>() > 0);
}

}  // namespace schedmate
