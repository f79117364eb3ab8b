// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace schedmate {
namespace {

using Json = nlohmann::json;

struct Case {
  std::string jobs;     ///< lines after the header
  std::string cluster;  ///< TOML
  std::string job;
  std::string policy = "fifo";
};

Json explain(const Case& given) {
  const Scratch here;
  here.write("jobs.csv", "job_id,user,vc,gpu_num,state,submit_s,duration_s\n" + given.jobs);
  here.write("cluster.toml", given.cluster);
  const Ran ran = here.run({"simulate", "--trace", "helios:jobs.csv", "--cluster", "cluster.toml",
                            "--policy", given.policy + "@it", "--explain", given.job, "--json",
                            "--report", "none", "--out", "out"});
  CAPTURE(ran.err);
  REQUIRE(ran.status == 0);
  return Json::parse(ran.out)["explain"]["it"];
}

std::string brief(const Json& explanation) {
  std::string text;
  for (const Json& wait : explanation["waits"]) {
    text += std::to_string(wait["from_s"].get<int>()) + "-" +
            std::to_string(wait["to_s"].get<int>()) + " " + wait["reason"].get<std::string>() + ";";
  }
  return text;
}

std::string vc(const std::string& name, int nodes) {
  return "[[vc]]\nname = \"" + name + "\"\nnodes = " + std::to_string(nodes) +
         "\ngpus_per_node = 4\n";
}

}  // namespace

// VC a (4 GPUs): job 1 runs 0-100 on all of it, job 2 (2 GPUs) 100-150, the explained job 150-160.
// VC b (4 GPUs): job 5 runs 0-40, then b has room.
TEST_CASE("a wait is split into busy GPUs, VC limit and jobs ahead, each with who held them") {
  const Json explained =
      explain({"1,ann,a,4,,0,100\n5,eve,b,4,,0,40\n2,bob,a,2,,10,50\n3,cid,a,4,,20,10\n",
               vc("a", 1) + vc("b", 1), "3"});
  CHECK(explained["start_s"] == 150);
  CHECK(explained["queue_s"] == 130);
  CHECK(brief(explained) == "20-40 gpus_busy;40-100 vc_limit;100-150 jobs_ahead;");
  const Json& waits = explained["waits"];
  CHECK(waits[0]["held_by"] == Json::parse(R"([{"job_id": "1", "user": "ann", "gpus": 4,
      "since_s": 0, "gpu_s": 80, "overtook": false}])"));
  CHECK(waits[1]["elsewhere"] == Json{"b"});
  CHECK(waits[1]["held_by"][0]["gpu_s"] == 240);
  CHECK(waits[2]["held_by"] == Json::parse(R"([{"job_id": "2", "user": "bob", "gpus": 2,
      "since_s": 100, "gpu_s": 100, "overtook": true}])"));
}

// Two nodes of 4; jobs 1 and 2 take 3 GPUs of one each. Two GPUs are free, on different nodes.
TEST_CASE("free GPUs on several nodes that no placement can join are fragmentation") {
  const Json explained =
      explain({"1,u,a,3,,0,100\n2,u,a,3,,0,60\n3,u,a,2,,5,10\n", vc("a", 2), "3"});
  CHECK(brief(explained) == "5-60 fragmentation;");
  CHECK(explained["waits"][0]["holders"] == 2);
}

// Strict order: job 3 fits beside job 1 all the time, but job 2 in front of it does not.
TEST_CASE("a job that would fit but for the order waits for the jobs ahead") {
  const Json explained =
      explain({"1,u,a,3,,0,100\n2,u,a,4,,5,20\n3,u,a,1,,10,10\n", vc("a", 1), "3"});
  CHECK(explained["start_s"] == 120);
  CHECK(brief(explained) == "10-120 jobs_ahead;");
}

TEST_CASE("between scheduling rounds a job waits for the next round") {
  const Json explained =
      explain({"1,u,a,1,,0,5\n2,u,a,1,,10,5\n", "round_s = 60\n" + vc("a", 1), "2"});
  CHECK(brief(explained) == "10-60 round;");
}

// Least remaining time first: job 2 (50 s) takes the GPUs of job 1 from 10 to 60.
TEST_CASE("a preempted job waits again, for the one that took its GPUs") {
  const Json explained =
      explain({"1,u,a,4,,0,500\n2,u,a,4,,10,50\n", vc("a", 1), "1", "srtf:estimate=oracle"});
  CHECK(brief(explained) == "10-60 jobs_ahead;");
  CHECK(explained["waits"][0]["held_by"][0]["job_id"] == "2");
}

TEST_CASE("a job that starts at once has no waits, one larger than its VC was never queued") {
  const Case given{"1,u,a,1,,0,5\n2,u,a,9,,10,5\n", vc("a", 1), "1"};
  CHECK(explain(given)["waits"].empty());
  const Json never = explain({given.jobs, given.cluster, "2"});
  CHECK(never["start_s"].is_null());
  CHECK(never["waits"].empty());
}

// Lucid on Venus: the job waits in front of the profiler first, then in its VC.
TEST_CASE("the intervals of a job that never was preempted add up to its queueing time") {
  const Scratch here;
  const Ran ran = here.run({"simulate", "--trace", venus(), "--policy", "fifo", "--policy", "lucid",
                            "--policy", "backfill_easy", "--explain", "786568", "--json",
                            "--report", "none", "--out", "out"});
  REQUIRE(ran.status == 0);
  const Json document = Json::parse(ran.out);
  for (const auto& [label, explained] : document["explain"].items()) {
    CAPTURE(label);
    std::int64_t sum_s = 0;
    for (const Json& wait : explained["waits"]) sum_s += wait["duration_s"].get<std::int64_t>();
    CHECK(sum_s > 0);
    CHECK(sum_s == explained["queue_s"]);
  }
}

// VC a has two nodes of 4 and lends one to the profiler, so job 1 holds all that is left of it.
TEST_CASE("GPUs that a profiler holds are named among those that a job waits for") {
  const std::string jobs = "1,ann,a,4,,0,5000\n2,bob,a,4,,10,5000\n3,bob,a,8,,20,50\n";
  const Case given{jobs, vc("a", 2), "2", "lucid:profiler_nodes=1,packing=off"};
  const Json explained = explain(given);
  CHECK(explained["profiler_gpus"] == 4);
  CHECK(explained["queue_s"] > 1000);
  CHECK(explain({jobs, vc("a", 2), "2", "fifo"})["profiler_gpus"] == 0);
  CHECK(explain({jobs, vc("a", 2), "2", "lucid:profiler=false"})["profiler_gpus"] == 0);
  const Scratch here;
  here.write("jobs.csv", "job_id,user,vc,gpu_num,state,submit_s,duration_s\n" + jobs);
  here.write("cluster.toml", vc("a", 2));
  const auto text_of = [&](const char* job) {
    return here
        .run({"simulate", "--trace", "helios:jobs.csv", "--cluster", "cluster.toml", "--policy",
              given.policy, "--explain", job, "--report", "none", "--out", "o"})
        .out;
  };
  CHECK(text_of("2").contains("), the profiler (4 GPUs all the time)\n"));
  CHECK(text_of("3").contains("larger than its VC without the 4 GPUs that the profiler holds"));
  CHECK(text_of("3").contains("larger than what the profiler leaves of their VC"));
}

TEST_CASE("for people the explanation is a table") {
  const Scratch here;
  here.write(
      "jobs.csv",
      "job_id,user,vc,gpu_num,state,submit_s,duration_s\n1,ann,a,4,,0,100\n2,bob,a,4,,10,5\n");
  here.write("cluster.toml", vc("a", 1));
  const Ran ran =
      here.run({"simulate", "--trace", "helios:jobs.csv", "--cluster", "cluster.toml", "--policy",
                "fifo", "--explain", "2", "--report", "none", "--out", "o"});
  CHECK(ran.out.contains("job 2 under fifo: 4 GPUs in a, user bob; submitted 10 s, started 100 s"));
  CHECK(ran.out.contains("GPUs busy   1 (ann, 4 GPUs since 0 s)"));
}

}  // namespace schedmate
