// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

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

TEST_CASE("elastic jobs: matches of the Advisor, failures and machines on bundled tables") {
  const Scratch here;
  const std::string data = SCHEDMATE_SOURCE_DIR "/data/elastic/";
  const auto simulate = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"simulate",
                                   "--trace",
                                   "sia:" + data + "syn/jobs.csv",
                                   "--tables",
                                   "syn",
                                   "--cluster",
                                   "syn40",
                                   "--out",
                                   "out",
                                   "--json",
                                   "--set",
                                   "elastic.perturbations=2",
                                   "--set",
                                   "elastic.profile_s=120"};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = here.run(words);
    REQUIRE_MESSAGE(ran.status == 0, ran.err);
    return nlohmann::json::parse(ran.out)["policies"];
  };
  const auto mean_s = [](const nlohmann::json& policy) {
    return policy["avg_jct_s"]["mean"].get<double>();
  };
  const auto plain = simulate({"--policy", "sia", "--policy", "sia+sm", "--policy",
                               "sia+sm:match=perfect@perfect", "--policy", "sia+sm:hit_pct=0@blind",
                               "--policy", "pollux+sm:population=20,generations=10", "--policy",
                               "gavel", "--policy", "srtf", "--policy", "fifo"});
  CHECK(mean_s(plain[1]) < mean_s(plain[0]));
  CHECK(mean_s(plain[2]) < mean_s(plain[1]));
  // Without any match it is the host.
  CHECK(mean_s(plain[3]) == mean_s(plain[0]));
  CHECK(here.read("out/blind.jobs.csv") == here.read("out/sia.jobs.csv"));
  const std::string page = here.read("out/report.html");
  for (const char* const part : {"syn_images", "Where GPU time went", "sia+sm", "perfect"})
    CHECK(page.contains(part));
  const auto failing =
      simulate({"--policy", "sia+sm", "--policy", "sia+sm:recover=true@handled", "--set",
                "cost.failure_gpu_hours=10", "--set", "cost.checkpoint_s=600"});
  CHECK(mean_s(failing[0]) > mean_s(plain[1]));
  CHECK(mean_s(failing[1]) < mean_s(failing[0]));
  const auto packed = simulate({"--policy", "sia", "--set", "elastic.placement=packed"});
  const auto smart = simulate({"--policy", "sia", "--set", "elastic.placement=smart"});
  CHECK(smart[0]["restarts_per_job"]["mean"] < packed[0]["restarts_per_job"]["mean"]);
  const auto early = simulate({"--policy", "sia", "--set", "cost.early_end_pct=50"});
  CHECK(mean_s(early[0]) < mean_s(plain[0]));
}

TEST_CASE("elastic jobs: an experiment has verdicts, and is cited where its inputs are not") {
  const Scratch here;
  const std::string data = SCHEDMATE_SOURCE_DIR "/data/elastic/";
  here.write("tables.toml",
             "title = \"T\"\nhost = \"sia\"\nperturbations = 2\n[settings]\n"
             "elastic.tables = \"here\"\nelastic.profile_s = 120\n"
             "[[trace]]\nname = \"syn\"\ntrace = \"sia:jobs.csv\"\ncluster = \"syn40\"\n"
             "[[arm]]\nlabel = \"sm\"\npolicy = \"sia+sm:hit_pct={at}\"\n"
             "[sweep]\nvalues = [\"0\", \"100\"]\n");
  here.write("jobs.csv", contents(data + "syn/jobs.csv"));
  std::filesystem::copy(data + "syn", here.path("here"), std::filesystem::copy_options::recursive);
  const Ran ran = here.run({"evaluate", "tables.toml", "--out", "out"});
  REQUIRE_MESSAGE(ran.status == 0, ran.err);
  const std::string csv = here.read("out/tables.csv");
  CHECK(csv.contains("tables,syn,0,sm,sia,sia+sm:hit_pct=0,ln_ratio,0,0,0,2,"));
  CHECK(csv.contains("tables,syn,100,sm,sia,sia+sm:hit_pct=100,jct_ratio,1."));
  CHECK(here.run({"evaluate", "tables.toml", "--out", "out"}).out.contains("already exists"));
  const std::vector<std::string> cite{"evaluate", "--cite", "tables.toml", "--out",
                                      "out",      "--book", "report.md"};
  CHECK(here.run(cite).err.empty());
  const std::string page = here.read("report/tables.md");
  std::filesystem::remove_all(here.path("here"));
  CHECK(here.run(cite).err.contains(
      "tables: shown as recorded, because its inputs are missing: --tables here"));
  CHECK(here.read("report/tables.md") == page);
  here.write("other.toml",
             "title = \"O\"\nhost = \"fifo\"\nperturbations = 2\n[settings]\n"
             "elastic.tables = \"syn\"\n[[trace]]\nname = \"syn\"\n"
             "trace = \"sia:jobs.csv\"\ncluster = \"syn40\"\n[[arm]]\npolicy = \"srtf\"\n");
  const Ran cited = here.run({"evaluate", "other.toml", "--cite", "tables.toml", "--out", "out"});
  CHECK_MESSAGE(cited.status == 0, cited.err);
  CHECK(here.read("out/evaluation.html").contains("tables.csv"));
}

TEST_CASE("elastic jobs: what is missing or has no meaning is reported") {
  const ElasticFolder here;
  struct Wrong {
    std::vector<std::string> words;
    std::string message;
  };
  const Wrong all[] = {
      {{"--cluster", "c.toml", "--policy", "sia"}, "needs --tables DIR"},
      {{"--tables", "absent", "--cluster", "c.toml", "--policy", "sia"}, "absent: no such folder"},
      {{"--tables", "tables", "--policy", "sia"}, "--cluster is missing"},
      {{"--tables", "tables", "--cluster", "d.toml", "--policy", "sia"}, "neither a file"},
      {{"--tables", "tables", "--cluster", "c.toml", "--policy", "sjf"}, "unknown policy 'sjf'"},
      {{"--tables", "tables", "--cluster", "c.toml", "--policy", "sia:estimate=last_k"},
       "estimate= has no meaning"},
      {{"--tables", "tables", "--cluster", "c.toml", "--policy", "sia", "--explain", "j1"},
       "does not work for elastic jobs"}};
  for (const Wrong& wrong : all) {
    const Ran ran = here.simulate(wrong.words);
    CAPTURE(wrong.message);
    CHECK(ran.status != 0);
    CHECK_MESSAGE(ran.err.contains(wrong.message), ran.err);
  }
}

}  // namespace schedmate
