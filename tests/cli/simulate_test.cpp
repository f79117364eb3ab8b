// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/cli/program.hpp"
#include "tests/support/patience.hpp"

namespace schedmate {
namespace {

using Names = std::vector<std::string>;

constexpr std::string_view jobs =
    "job_id,user,vc,gpu_num,state,submit_s,duration_s\n"
    "1,ann,a,4,COMPLETED,0,100\n"
    "2,bob,a,2,FAILED,10,50\n"
    "3,bob,a,9,COMPLETED,20,50\n"
    "4,bob,a,none,COMPLETED,30,50\n";
constexpr std::string_view one_node = "[[vc]]\nname = \"a\"\nnodes = 1\ngpus_per_node = 4\n";

Ran simulate(const Scratch& here, Names more) {
  here.write("jobs.csv", jobs);
  here.write("cluster.toml", one_node);
  Names words{"simulate", "--trace", "helios:jobs.csv", "--cluster", "cluster.toml"};
  words.insert(words.end(), more.begin(), more.end());
  return here.run(words);
}

}  // namespace

TEST_CASE("simulate writes a label's files and says what it read and what could not run") {
  const Scratch here;
  const Ran ran = simulate(here, {"--policy", "fifo@first", "--out", "new/out"});
  CAPTURE(ran.err);
  REQUIRE(ran.status == 0);
  CHECK(here.files("new/out") ==
        Names{"first.jobs.csv", "first.timeline.csv", "report.html", "summary.json"});
  CHECK(ran.out.contains("3 of 4 rows are jobs"));
  CHECK(ran.out.contains("jobs.csv:5:9"));
  CHECK(ran.out.contains("warning: first: 1 job: larger than their VC"));
  CHECK(ran.out.contains("new/out/report.html"));
  CHECK(ran.err.empty());
  // Job 2 waits for job 1 until 100.
  CHECK(here.read("new/out/first.jobs.csv").contains("2,bob,a,2,10,50,100,150,90,140,"));
}

TEST_CASE("a trace that names no models gets those of the recipe that was asked for") {
  const Scratch here;
  const auto workload_of = [&](Names more) {
    more.insert(more.end(), {"--policy", "lucid", "--report", "none", "--out", "out"});
    const Ran ran = simulate(here, more);
    CAPTURE(ran.err);
    REQUIRE(ran.status == 0);
    return nlohmann::json::parse(here.read("out/summary.json")).dump();
  };
  const std::string light = workload_of({});
  CHECK(light.contains("\"workload\":\"light\""));
  CHECK(light.contains("\"workload_sha256\":\""));
  const std::string heavy = workload_of({"--set", "workload=heavy"});
  CHECK(heavy.contains("\"workload\":\"heavy\""));
  here.write("mine.toml", "name = 'mine'\n[resubmission]\nseed = 2\n");
  for (const char* file : {"workload=mine.toml", "workload=hevy"}) {
    const Ran ran = simulate(here, {"--set", file, "--policy", "lucid", "--out", "broken"});
    CHECK(ran.status == 3);
    CHECK(ran.err.contains("light, heavy or the path of a recipe"));
  }
}

TEST_CASE(
    "a profile that is taken during a job's warm-up changes what lucid does, a later one not") {
  const Scratch here;
  const auto jobs = [&](const std::string& recipe, const std::string& profiling_s,
                        const std::string& warm_up) {
    const Ran ran =
        here.run({"simulate", "--trace", venus(), "--policy",
                  "lucid:t_prof_s=" + profiling_s + "@x", "--set", "workload=" + recipe, "--set",
                  "cost.warm_up=" + warm_up, "--report", "none", "--out", "out"});
    CAPTURE(ran.err);
    REQUIRE(ran.status == 0);
    return here.read("out/x.jobs.csv");
  };
  for (const char* recipe : {"light", "heavy"}) {
    CAPTURE(recipe);
    CHECK((jobs(recipe, "30", "true") != jobs(recipe, "30", "false")));
    // All models of jobs that are small enough for the profiler are steady after 105 s.
    CHECK((jobs(recipe, "105", "true") == jobs(recipe, "105", "false")));
    CHECK((jobs(recipe, "200", "true") == jobs(recipe, "200", "false")));
  }
}

TEST_CASE("an output folder is used again: same names are replaced, others are left") {
  const Scratch here;
  here.write("out/fifo.jobs.csv", "old");
  here.write("out/notes.txt", "mine");
  REQUIRE(simulate(here, {"--policy", "fifo", "--report", "none", "--out", "out"}).status == 0);
  CHECK(here.read("out/fifo.jobs.csv").starts_with("job_id,"));
  CHECK(here.read("out/notes.txt") == "mine");
  CHECK(here.files("out") ==
        Names{"fifo.jobs.csv", "fifo.timeline.csv", "notes.txt", "summary.json"});
}

TEST_CASE("--json prints one document: the summary and what only this run can show") {
  const Scratch here;
  const Ran ran = simulate(
      here, {"--policy", "fifo", "--explain", "2", "--json", "--report", "none", "--out", "out"});
  REQUIRE(ran.status == 0);
  const auto document = nlohmann::json::parse(ran.out);
  CHECK(document["schema"] == "schedmate.simulation.v1");
  CHECK(document["labels"]["fifo"]["finished"] == 2);
  CHECK(document["report"].is_null());
  CHECK(document["warnings"][0]["first"][0] == "3");
  CHECK(document["explain"]["fifo"]["waits"][0]["to_s"] == 100);
  CHECK(document["cpu_ms"].contains("fifo"));
}

TEST_CASE(
    "what is invented, and what knows the future, is said in the text, the JSON and the page") {
  const Scratch here;
  const Ran ran =
      simulate(here, {"--policy", "fifo", "--policy", "sjf", "--policy", "horus", "--policy",
                      "qssf+sm@qssf_sm", "--policy", "backfill_easy", "--policy",
                      "schedmate:cap=limit@capped", "--policy", "schedmate:cap=oracle@foreseen",
                      "--policy", "tiresias", "--out", "out"});
  CAPTURE(ran.err);
  REQUIRE(ran.status == 0);
  const std::string page = here.read("out/report.html");
  for (const char* line :
       {"horus: INVENTED: what each job does to its GPUs and how fast pairs run (workload light)",
        "qssf_sm: INVENTED: what SchedMate reads of each job: folder, command, model (workload ",
        "backfill_easy, capped: INVENTED: users' time limits (the run time times a random factor)",
        "sjf, foreseen: looks into the future (estimate oracle): for comparison only",
        "qssf_sm: SchedMate's advice was used for 0 of 3 jobs"}) {
    CAPTURE(line);
    CHECK(ran.out.contains(line));
    std::string escaped = line;
    for (std::size_t at = 0; (at = escaped.find('\'', at)) != std::string::npos;)
      escaped.replace(at, 1, "&#39;");
    CHECK((page.contains(line) || page.contains(escaped)));
  }
  const auto labels = nlohmann::json::parse(here.read("out/summary.json"))["labels"];
  for (const char* label : {"fifo", "tiresias", "horus", "backfill_easy"})
    CHECK(labels[label]["oracle"] == false);  // their estimator, if any, decides nothing
  CHECK(labels["sjf"]["oracle"] == true);
  CHECK(labels["horus"]["invented"].size() == 1);
  CHECK(labels["fifo"]["invented"].empty());
  const Ran plain = simulate(here, {"--policy", "fifo", "--report", "none", "--out", "plain"});
  CHECK_FALSE((plain.out.contains("INVENTED") || plain.out.contains("future")));
}

TEST_CASE("a column that is the run time is an oracle, one that users stated is none") {
  const Scratch here;
  here.write("t.csv",
             "job_id,user,vc,gpu_num,state,submit_s,duration_s,asked_s,known_s\n"
             "1,ann,a,4,,0,100,600,100\n2,bob,a,2,,10,50,600,50\n3,bob,a,2,,20,60,60,60\n");
  here.write("c.toml", one_node);
  const Ran ran = here.run({"simulate", "--trace", "helios:t.csv", "--cluster", "c.toml",
                            "--policy", "sjf:estimate=column:asked_s@asked", "--policy",
                            "sjf:estimate=column:known_s@known", "--report", "none", "--out", "o"});
  REQUIRE_MESSAGE(ran.status == 0, ran.err);
  CHECK(ran.out.contains("\nknown: looks into the future (estimate column:known_s)"));
  CHECK_FALSE(ran.out.contains("asked, known"));
}

TEST_CASE("a trace with syn_ columns is called invented") {
  const Scratch here;
  here.write("cluster.toml", one_node);
  here.write("syn.csv",
             "job_id,user,vc,gpu_num,state,submit_s,duration_s,syn_type,syn_parent\n"
             "1,syn_u001,a,4,,0,100,pretrain,\n");
  const auto run = [&](const char* trace) {
    return here.run({"simulate", "--trace", trace, "--cluster", "cluster.toml", "--policy", "fifo",
                     "--report", "none", "--out", "o"});
  };
  const Ran ran = run("helios:syn.csv");
  REQUIRE_MESSAGE(ran.status == 0, ran.err);
  CHECK(
      ran.out.contains("INVENTED by schedmate generate: this is no real trace (syn_type, "
                       "syn_parent)"));
  const auto trace = nlohmann::json::parse(here.read("o/summary.json"))["trace"];
  CHECK(trace["invented_columns"] == nlohmann::json{"syn_type", "syn_parent"});
  here.write("jobs.csv", jobs);
  CHECK_FALSE(run("helios:jobs.csv").out.contains("INVENTED"));
}

TEST_CASE("lucid says what its profiler holds, and warns where that is much of the cluster") {
  const Scratch here;
  here.write("jobs.csv", jobs);
  const auto said = [&](const std::string& cluster, const std::string& policy) {
    here.write("c.toml", cluster);
    const Ran ran = here.run({"simulate", "--trace", "helios:jobs.csv", "--cluster", "c.toml",
                              "--policy", policy + "@it", "--report", "none", "--out", "o"});
    REQUIRE_MESSAGE(ran.status == 0, ran.err);
    return ran.out;
  };
  const auto nodes = [](int count) {
    return "[[vc]]\nname = \"a\"\nnodes = " + std::to_string(count) + "\ngpus_per_node = 8\n";
  };
  // One node cannot be lent: the profiler's two are there in addition.
  const std::string one = said(nodes(1), "lucid");
  CHECK(one.contains("it: its profiler holds 16 GPUs all the time (16 more than the cluster has)"));
  CHECK(one.contains("WARNING: with its profiler it has 24 GPUs, other policies have 8"));
  // Of four one is lent.
  const std::string four = said(nodes(4), "lucid:profiler_nodes=1");
  CHECK(four.contains("holds 8 GPUs all the time (8 lent by a)"));
  CHECK(four.contains("WARNING: the profiler takes 25 % of the cluster's 32 GPUs"));
  CHECK_FALSE(four.contains("unfair"));
  // Of forty it is little.
  const std::string forty = said(nodes(40), "lucid:profiler_nodes=1");
  CHECK(forty.contains("holds 8 GPUs all the time (8 lent by a)"));
  CHECK_FALSE(forty.contains("WARNING"));
  CHECK_FALSE(said(nodes(1), "lucid:profiler=false").contains("its profiler holds"));
  const auto label =
      nlohmann::json::parse((said(nodes(4), "lucid"), here.read("o/summary.json")))["labels"]["it"];
  CHECK(label["profiler"]["gpus"] == 16);
  CHECK(label["profiler"]["borrowed_gpus"] == 8);
}

TEST_CASE("--strict makes the bad row an error") {
  const Scratch here;
  const Ran ran = simulate(here, {"--policy", "fifo", "--strict", "--out", "out"});
  CHECK(ran.status == 3);
  CHECK(ran.err.contains("jobs.csv:5:9"));
  CHECK(here.files("out").empty());
}

TEST_CASE("same seed, same bytes, with one thread or several; another seed, other draws") {
  const Scratch here;
  const auto run = [&](const char* out, const char* seed, const char* threads) {
    return here
        .run({"simulate", "--trace", venus(), "--policy", "fifo", "--policy", "lucid", "--policy",
              "backfill_easy", "--seed", seed, "--threads", threads, "--out", out})
        .status;
  };
  REQUIRE(run("a", "7", "1") == 0);
  REQUIRE(run("b", "7", "1") == 0);
  REQUIRE(run("c", "7", "3") == 0);
  REQUIRE(run("d", "8", "1") == 0);
  for (const std::string& name : here.files("a")) {
    CAPTURE(name);
    CHECK(contents(here.path("a/" + name)) == contents(here.path("b/" + name)));
    CHECK(contents(here.path("a/" + name)) == contents(here.path("c/" + name)));
  }
  CHECK(here.read("a/fifo.jobs.csv") == here.read("d/fifo.jobs.csv"));
  CHECK(here.read("a/backfill_easy.jobs.csv") != here.read("d/backfill_easy.jobs.csv"));
}

TEST_CASE("a label's files do not depend on the other labels of the command") {
  const Scratch here;
  REQUIRE(here.run({"simulate", "--trace", venus(), "--policy", "lucid", "--policy", "fifo",
                    "--report", "none", "--out", "both"})
              .status == 0);
  REQUIRE(here.run({"simulate", "--trace", venus(), "--policy", "fifo", "--report", "none", "--out",
                    "one"})
              .status == 0);
  CHECK(here.read("both/fifo.jobs.csv") == here.read("one/fifo.jobs.csv"));
  CHECK(here.read("both/fifo.timeline.csv") == here.read("one/fifo.timeline.csv"));
}

TEST_CASE("Ctrl-C or a kill in the middle of a file leaves the old one and no part") {
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    CAPTURE(signal_number);
    const Scratch here;
    here.write("out/jobs.csv", "old");
    const pid_t process = here.start({"generate", "--from", "venus", "--jobs", "4000000", "--gpus",
                                      "100000", "--load", "0.9", "--out", "out"});
    const auto writes = [&] {
      const Names names = here.files("out");
      return std::ranges::any_of(names, [](const auto& name) { return name.ends_with(".part"); });
    };
    REQUIRE(testing::soon(writes));
    CHECK(Scratch::end(process, signal_number) == 128 + signal_number);
    CHECK(here.files("out") == Names{"jobs.csv"});
    CHECK(here.read("out/jobs.csv") == "old");
  }
}

}  // namespace schedmate
