// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/program.hpp"

namespace schedmate {
namespace {

/// One application `a` that was measured on one node of type `t`.
struct ElasticFolder : Scratch {
  ElasticFolder() {
    std::string steps = "placement,local_bsz,step_time,sync_time\n";
    for (const int gpus : {1, 2, 4})
      for (const int batch : {8, 16, 32, 64})
        steps += fmt::format("{},{},{},{}\n", gpus, batch, 0.02 + 0.001 * batch + 0.002 * gpus,
                             0.002 * gpus);
    write("tables/a/placements-t.csv", steps);
    write("tables/a/validation-32.csv", "progress,grad_sqr,grad_var\n2000,1,10\n4000,1,20\n");
    write("tables/a/validation-128.csv", "progress,grad_sqr,grad_var\n2000,1,10\n4000,1,20\n");
    write("tables/applications.toml",
          "[[application]]\nname = \"a\"\nrestart_s = 10\nbelieved_restart_s = 10\nslowdown = 1\n");
    write("jobs.csv",
          "name,time,application,num_replicas,batch_size\nj1,5,a,1,128\nj2,30,a,1,128\n");
    write("c.toml", "name = \"c\"\n[[type]]\nname = \"t\"\nnodes = 1\ngpus_per_node = 4\n");
  }
  [[nodiscard]] Ran simulate(const std::vector<std::string>& more) const {
    std::vector<std::string> words{"simulate", "--trace", "sia:jobs.csv", "--out", "out"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
};

}  // namespace

TEST_CASE("elastic jobs: figures, a row a job, equal bytes on any number of threads") {
  const ElasticFolder here;
  const std::vector<std::string> words{"--tables", "tables",    "--cluster", "c.toml",
                                       "--policy", "sia@first", "--json"};
  const Ran ran = here.simulate(words);
  REQUIRE_MESSAGE(ran.status == 0, ran.err);
  CHECK(ran.out.contains("\"perturbations\": 20"));
  const std::string rows = here.read("out/first.jobs.csv");
  CHECK(rows.contains("\nj1,a,5,"));
  CHECK(rows.contains("\nj2,a,30,"));
  std::vector<std::string> threads = words;
  threads.insert(threads.end(), {"--threads", "3"});
  CHECK(here.simulate(threads).out == ran.out);
  CHECK(here.read("out/first.jobs.csv") == rows);
}

TEST_CASE("elastic jobs: what is missing or has no meaning is told") {
  const ElasticFolder here;
  struct Wrong {
    std::vector<std::string> words;
    std::string told;
  };
  const Wrong all[] = {
      {{"--cluster", "c.toml", "--policy", "sia"}, "needs --tables DIR"},
      {{"--tables", "absent", "--cluster", "c.toml", "--policy", "sia"}, "absent: no such folder"},
      {{"--tables", "tables", "--policy", "sia"}, "--cluster is missing"},
      {{"--tables", "tables", "--cluster", "d.toml", "--policy", "sia"}, "neither a file"},
      {{"--tables", "tables", "--cluster", "c.toml", "--policy", "fifo"}, "unknown policy 'fifo'"},
      {{"--tables", "tables", "--cluster", "c.toml", "--policy", "sia:estimate=last_k"},
       "estimate= has no meaning"},
      {{"--tables", "tables", "--cluster", "c.toml", "--policy", "sia", "--explain", "j1"},
       "not for elastic jobs"}};
  for (const Wrong& wrong : all) {
    const Ran ran = here.simulate(wrong.words);
    CAPTURE(wrong.told);
    CHECK(ran.status != 0);
    CHECK_MESSAGE(ran.err.contains(wrong.told), ran.err);
  }
}

}  // namespace schedmate
