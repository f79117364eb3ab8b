// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/random.hpp"
#include "base/text.hpp"
#include "tests/cli/whatif_world.hpp"
#include "tests/support/broken_dumps.hpp"
#include "trace/csv.hpp"

namespace schedmate {
namespace {

/// One node of 4 GPUs; every job waits `wait_s` though the node is idle.
std::string idle_but_waiting(int wait_s) {
  std::string text = "JobID|User|Partition|State|Submit|Eligible|Start|End|AllocTRES|NodeList\n";
  for (int i = 0; i < 6; ++i) {
    const int at = 1'000'000 + 20'000 * i;
    text += fmt::format("{0}|ann|p|COMPLETED|{1}|{1}|{2}|{3}|gres/gpu=4|n1\n", i + 1, at,
                        at + wait_s, at + wait_s + 100);
  }
  return text;
}

/// 200 jobs of three users that crowd 3 nodes of 4 GPUs.
std::string three_node_crowd() {
  std::string text = "job_id,user,vc,gpu_num,state,submit_s,duration_s\n";
  Random random(7);
  std::int64_t now = 1'700'000'000;
  for (int i = 1; i <= 200; ++i) {
    now += random.below(60);
    text += fmt::format("{},u{},p,{},COMPLETED,{},{}\n", i, random.below(3), 1 + random.below(4),
                        now, 100 + random.below(400));
  }
  return text;
}

/// Of a jobs.csv what sacct would have printed. NODES of the dump are of no matter here.
std::string as_dump(const std::string& jobs_csv) {
  std::string text = "JobID|User|Partition|State|Submit|Eligible|Start|End|AllocTRES|NodeList\n";
  auto rows = trace::CsvRows::open(jobs_csv, "jobs").value();
  const auto field = [&](std::string_view name) { return rows.field(rows.need(name).value()); };
  while (rows.next()) {
    text += fmt::format("{0}|{1}|p|COMPLETED|{2}|{2}|{3}|{4}|gres/gpu={5}|n1\n", field("job_id"),
                        field("user"), field("submit_s"), field("start_s"), field("end_s"),
                        field("gpus"));
  }
  return text;
}

/// dump.txt is what our own fifo made of a crowd on the cluster of cluster.toml.
struct OwnDump : Scratch {
  OwnDump() {
    write("jobs.csv", three_node_crowd());
    write("cluster.toml", "[[vc]]\nname = \"p\"\nnodes = 3\ngpus_per_node = 4\n");
    const Ran made = run({"simulate", "--trace", "helios:jobs.csv", "--cluster", "cluster.toml",
                          "--policy", "fifo", "--report", "none", "--out", "sim"});
    REQUIRE_MESSAGE(made.status == 0, made.err);
    write("dump.txt", as_dump(read("sim/fifo.jobs.csv")));
  }
};

}  // namespace

TEST_CASE("whatif: a dump that the site's model made itself is replayed to the second") {
  const OwnDump here;
  const auto under = [&](const std::string& site) {
    return whatif(
        here, "dump.txt",
        {"--cluster", "cluster.toml", "--site", site, "--policy", "sjf:estimate=oracle", "--json"});
  };
  const Ran same = under("fifo");
  REQUIRE_MESSAGE(same.status == 0, same.err);
  const auto document = nlohmann::json::parse(same.out);
  const auto& replay = document["replay"];
  CHECK(replay["real_wait_s"] > 100);
  CHECK(replay["p90_start_error_s"] == 0);
  CHECK(replay["mean_start_error_s"] == 0);
  CHECK(replay["within_60_s"] == 1);
  const auto& all = document["policies"][0]["all"];
  CHECK(all["replay_mean_ln_jct_ratio"] == 0);
  CHECK(all["verdict"] == "gains");
  CHECK(all["confidence"] == "high");
  CHECK(under("srtf:estimate=oracle").status == 1);  // another scheduler is seen to be another
}

TEST_CASE("whatif: the site's own policy as the what-if is no certain gain") {
  const OwnDump here;
  const auto all_of = [&](const std::string& path, const Words& more) {
    const Ran ran = whatif(here, path, more);
    REQUIRE_MESSAGE(ran.status == 0, ran.err);
    return nlohmann::json::parse(ran.out)["policies"][0]["all"];
  };
  // The replay takes another policy for the site's; the site's own differs from that one alone.
  const std::string weights = "weight_age=0,weight_job_size=0,weight_fairshare=0";
  const auto own = all_of("dump.txt", {"--cluster", "cluster.toml", "--site",
                                       "slurm_backfill:" + weights + ",estimate=column:limit_s",
                                       "--policy", "fifo", "--json"});
  CHECK(own["verdict"] == "loses");
  CHECK(own["end_shift_s"] == 0);
  CHECK(own["confidence"] == "low");
  // The test dump's own slurm.conf: nearer to reality than what is taken for the site.
  const std::string conf = "slurm_backfill:bf_interval=1," + weights + ",estimate=column:limit_s";
  const auto slurm = all_of(testbed_dump, {"--policy", conf, "--json"});
  CHECK(slurm["mean_ln_jct_ratio"] < -0.8);
  CHECK(slurm["verdict"] == "gains");
  CHECK(slurm["confidence"] == "low");
  CHECK(slurm["doubt"] == "near_to_past");
  const auto sjf = all_of(testbed_dump, {"--policy", "sjf:estimate=oracle", "--json"});
  CHECK(sjf["confidence"] == "high");
  CHECK(whatif(here, testbed_dump, {"--policy", conf})
            .out.contains("so it may be what really happened: all, size 1"));
}

TEST_CASE("whatif: a policy that looks at GPU use works on invented use, and that is said") {
  const Scratch here;
  const Ran ran =
      whatif(here, testbed_dump,
             {"--policy", "horus", "--policy", "lucid+sm", "--policy", "fifo", "--json"});
  REQUIRE_MESSAGE(ran.status == 0, ran.err);
  const auto document = nlohmann::json::parse(ran.out);
  CHECK(document["replay"]["invented_workload"].is_null());
  CHECK(document["policies"][2]["invented_workload"].is_null());
  for (const std::size_t i : {0U, 1U}) {
    const auto& policy = document["policies"][i];
    CHECK(policy["invented_workload"] == "light");
    CHECK(policy["all"]["doubt"] == "gpu_use");
    for (const char* rows : {"by_size", "by_user"}) {
      for (const auto& row : policy[rows])
        CHECK((row["confidence"] == "low" || row["confidence"] == "none"));
    }
  }
  CHECK(whatif(here, testbed_dump, {"--policy", "horus"}).out.contains("it is INVENTED here"));
}

TEST_CASE("whatif: a dump whose jobs all ran in the warm-up says that") {
  const Scratch here;
  const std::string rows = idle_but_waiting(0);
  here.write("one.txt", rows.substr(0, rows.find("\n2|") + 1));
  const Ran ran = whatif(here, "one.txt", {"--policy", "fifo", "--out", "out"});
  CHECK(ran.status == 1);
  CHECK(ran.out.contains("no job is left after the warm-up"));
  CHECK_FALSE(ran.out.contains("median"));
  const auto document = nlohmann::json::parse(here.read("out/whatif.json"));
  CHECK(document["replay"]["jobs"] == 0);
  CHECK(document["replay"]["median_start_error_s"].is_null());
}

TEST_CASE("whatif: where no job starts no mean is given, and few jobs are called few") {
  const Scratch here;
  const std::string path = here.write("six.txt", idle_but_waiting(0));
  here.write("small.toml", "[[vc]]\nname = \"p\"\nnodes = 1\ngpus_per_node = 2\n");
  const Ran ran = whatif(here, path, {"--cluster", "small.toml", "--out", "out"});
  CHECK((ran.out.contains("60 s, mean -\n") && ran.out.contains(", - in the replay\n")));
  const auto replay = nlohmann::json::parse(here.read("out/whatif.json"))["replay"];
  CHECK((replay["mean_start_error_s"].is_null() && replay["replay_wait_s"].is_null()));
  const auto verdict = nlohmann::json::parse(whatif(here, path, {"--json"}).out)["verdict"];
  CHECK(verdict["fidelity"].get<std::string>().starts_with("Good enough"));
  CHECK(verdict["confidence"].get<std::string>().contains(
      "Only 5 jobs: a single one can decide the figures."));
}

TEST_CASE("whatif: restarts are reported where the dump lacks the attempts before them") {
  const Scratch here;
  const std::string head = "JobID|User|Partition|State|Submit|Start|End|AllocTRES|NodeList|";
  const std::string last = "7|ann|p|COMPLETED|200|200|300|gres/gpu=4|n1|2\n";
  const Ran ran = whatif(here, here.write("t", head + "Restarts\n" + last), {"--out", "out"});
  CHECK(ran.out.contains("1 jobs were restarted 2 times, but the dump has only their last"));
  const auto jobs = nlohmann::json::parse(here.read("out/whatif.json"))["jobs"];
  CHECK(jobs["last_attempt_alone"] == nlohmann::json{{"jobs", 1}, {"restarts", 2}});
  here.write("t", head + "Restarts\n7|ann|p|NODE_FAIL|100|100|150|gres/gpu=4|n1|1\n" + last);
  CHECK_FALSE(whatif(here, "t").out.contains("restarted"));
}

TEST_CASE("whatif: the Advisor reads what was submitted from where") {
  const Scratch here;
  // Two scripts of one user: one takes seconds, the other twenty minutes; nothing else
  // distinguishes them.
  std::string jobs = "job_id,user,vc,gpu_num,state,submit_s,duration_s\n";
  Random random(7);
  std::vector<bool> is_long;
  for (int i = 1; i <= 400; ++i) {
    is_long.push_back(random.below(2) == 0);
    jobs += fmt::format("{},ann,p,4,COMPLETED,{},{}\n", i, 1'700'000'000 + 180 * i,
                        is_long.back() ? 1100 + random.below(200) : 10 + random.below(20));
  }
  here.write("jobs.csv", jobs);
  here.write("cluster.toml", "[[vc]]\nname = \"p\"\nnodes = 3\ngpus_per_node = 4\n");
  const Ran made = here.run({"simulate", "--trace", "helios:jobs.csv", "--cluster", "cluster.toml",
                             "--policy", "fifo", "--report", "none", "--out", "sim"});
  REQUIRE_MESSAGE(made.status == 0, made.err);
  const auto mean_ratio = [&](const std::string& columns, const auto& value_of) {
    std::string text;
    std::size_t row = 0;
    const std::string plain = as_dump(here.read("sim/fifo.jobs.csv"));
    for (const std::string_view line : split(plain, '\n')) {
      if (line.empty()) continue;
      const std::string more = row == 0 ? columns : value_of(is_long[row - 1]);
      text += fmt::format("{}{}\n", line, more);
      ++row;
    }
    here.write("dump.txt", text);
    const Ran ran = whatif(here, "dump.txt",
                           {"--cluster", "cluster.toml", "--site", "fifo", "--policy",
                            "sjf:estimate=last_k,advice=advisor", "--json"});
    REQUIRE_MESSAGE(ran.status == 0, ran.err);
    return nlohmann::json::parse(ran.out)["policies"][0]["all"]["mean_ln_jct_ratio"].get<double>();
  };
  const double nothing = mean_ratio("", [](bool) { return ""; });
  const double line = mean_ratio("|WorkDir|SubmitLine", [](bool is_long_one) {
    return is_long_one ? "|/home/ann|sbatch long.sh" : "|/home/ann|sbatch short.sh";
  });
  const double folder = mean_ratio("|WorkDir|SubmitLine", [](bool is_long_one) {
    return is_long_one ? "|/home/ann/long|sbatch run.sh" : "|/home/ann/short|sbatch run.sh";
  });
  const double name =
      mean_ratio("|JobName", [](bool is_long_one) { return is_long_one ? "|long" : "|short"; });
  CAPTURE(nothing);
  CHECK(line < nothing - 0.2);
  CHECK(folder < nothing - 0.2);
  CHECK(name < nothing - 0.2);
}

TEST_CASE("whatif on a real Slurm's dump: fidelity, gains with intervals, failures") {
  const Scratch here;
  const Ran ran =
      whatif(here, testbed_dump, {"--policy", "sjf:estimate=last_k", "--out", "out", "--json"});
  CAPTURE(ran.err);
  REQUIRE(ran.status == 0);
  const auto document = nlohmann::json::parse(ran.out);
  CHECK(document["schema"] == "schedmate.whatif.v1");
  CHECK(document["jobs"]["taking_part"] == 322);
  CHECK(document["cluster"]["vcs"].size() == 1);
  CHECK(document["cluster"]["vcs"][0]["name"] == "debug+gpu");
  CHECK(document["cluster"]["vcs"][0]["nodes"] == 4);
  CHECK(document["cluster"]["vcs"][0]["gpus_per_node"] == 8);
  const auto& replay = document["replay"];
  CHECK(replay["good"] == true);
  CHECK(replay["jobs"] == 316);
  CHECK(replay["warm_up_elsewhen"] == 0);
  CHECK(replay["real_wait_s"] > 60);
  CHECK(replay["median_start_error_s"] < 60);
  CHECK(document["failures"].size() == 3);
  REQUIRE(document["policies"].size() == 1);
  const auto& policy = document["policies"][0];
  CHECK(policy["all"]["jobs"] == 316);
  CHECK(policy["by_user"].size() == 5);
  CHECK(policy["by_size"].size() == 4);
  const double low = policy["all"]["ci95"][0];
  const double high = policy["all"]["ci95"][1];
  CHECK(low < policy["all"]["mean_ln_jct_ratio"]);
  CHECK(high > policy["all"]["mean_ln_jct_ratio"]);
  CHECK(here.files("out") == Words{"cluster.toml", "replay.jobs.csv", "replay.timeline.csv",
                                   "report.html", "sjf.jobs.csv", "sjf.timeline.csv",
                                   "summary.json", "whatif.json"});
  CHECK(here.read("out/whatif.json") == ran.out);
}

TEST_CASE("whatif: the text and the JSON of one cluster give one answer") {
  const Scratch here;
  const Words more{"--policy", "fifo", "--json"};
  const std::string json = SCHEDMATE_SOURCE_DIR "/tests/fixtures/sacct/testbed.json.gz";
  const auto a = nlohmann::json::parse(whatif(here, testbed_dump, more).out);
  const auto b = nlohmann::json::parse(whatif(here, json, more).out);
  CHECK(a["replay"]["median_start_error_s"] == b["replay"]["median_start_error_s"]);
  CHECK(a["policies"][0]["all"] == b["policies"][0]["all"]);
}

TEST_CASE("whatif: no plain name leaves by default, in no file and not on the screen") {
  const Scratch here;
  const Words secrets{"www-data", "uucp",   "backup-models", "games",      "\"irc\"",
                      ",irc,",    "train_", "sweep-lr",      "het_eval",   "sacct-testbed",
                      "sbatch",   "/srv",   "user irc",      "user backup"};
  const Ran ran = whatif(here, testbed_dump, {"--policy", "sjf:estimate=last_k", "--out", "out"});
  REQUIRE(ran.status == 0);
  const Ran json = whatif(here, testbed_dump, {"--policy", "fifo", "--json"});
  std::vector<std::string> texts{ran.out, ran.err, json.out};
  for (const std::string& name : here.files("out")) texts.push_back(here.read("out/" + name));
  CHECK(texts.size() == 11);
  for (const std::string& text : texts) {
    for (const std::string& secret : secrets) CHECK_MESSAGE(!text.contains(secret), secret);
  }
  CHECK(ran.out.contains("user u-"));
}

TEST_CASE("whatif: a user keeps the pseudonym while the key stays, another key gives another") {
  const Scratch here;
  const auto users = [&](const std::string& state) {
    const Ran ran =
        whatif(here, testbed_dump, {"--policy", "fifo", "--json", "--state-dir", state});
    std::set<std::string> names;
    const auto document = nlohmann::json::parse(ran.out);
    for (const auto& each : document["policies"][0]["by_user"]) names.insert(each["name"]);
    return names;
  };
  const auto first = users("one");
  CHECK(first.size() == 5);
  CHECK(users("one") == first);
  CHECK(users("two") != first);
  namespace fs = std::filesystem;
  CHECK(fs::status(here.path("one/names.key")).permissions() ==
        (fs::perms::owner_read | fs::perms::owner_write));
  here.write("one/names.key", "short");
  const Ran ran = whatif(here, testbed_dump, {"--state-dir", "one"});
  CHECK(ran.status == 3);
  CHECK(ran.err.contains("64 hexadecimal digits"));
}

TEST_CASE("whatif: folders in the dump's path stay out of the outputs") {
  const Scratch here;
  const std::string rows = idle_but_waiting(0);
  const std::string bad = "9|ann|p|COMPLETED|x|100|100|120|gres/gpu=4|n1\n";
  std::string text = rows;
  for (int i = 10; i < 20; ++i)
    text += std::to_string(i) + "|ann|p|COMPLETED|5000|5000|5000|6000|gres/gpu=1|n1\n";
  std::filesystem::create_directory(here.path("of-alice"));
  here.write("of-alice/log.txt", text + bad);
  const Ran ran = whatif(here, "of-alice/log.txt", {"--policy", "fifo", "--json"});
  CHECK(ran.out.contains("log.txt:18:19: submit is neither"));
  CHECK_FALSE(ran.out.contains("of-alice"));
}

TEST_CASE("whatif --names plain shows them and needs no key") {
  const Scratch here;
  const Ran ran =
      whatif(here, testbed_dump, {"--policy", "fifo", "--names", "plain", "--state-dir", "s"});
  REQUIRE(ran.status == 0);
  CHECK(ran.out.contains("user www-data"));
  CHECK_FALSE(std::filesystem::exists(here.path("s/names.key")));
  CHECK(whatif(here, testbed_dump, {"--names", "plane"}).err.contains("plain"));
}

TEST_CASE("whatif: a replay that is too far off stands alone, exit code 1") {
  const Scratch here;
  const std::string path = here.write("odd.txt", idle_but_waiting(7200));
  const Ran ran = whatif(here, path, {"--out", "out"});
  CAPTURE(ran.err);
  CHECK(ran.status == 1);
  CHECK(ran.out.contains("median 2 h"));
  CHECK(ran.out.contains("NOT good enough"));
  CHECK_FALSE(ran.out.contains("other policies against"));
  CHECK(here.files("out") == Words{"cluster.toml", "replay.jobs.csv", "replay.timeline.csv",
                                   "report.html", "summary.json", "whatif.json"});
  const auto document = nlohmann::json::parse(here.read("out/whatif.json"));
  CHECK(document["replay"]["good"] == false);
  CHECK(document["replay"]["allowed_median_s"] == 1440);
  CHECK(document["policies"].empty());
  CHECK(document["jobs"]["bad_rows"].empty());
  // Ten minutes are allowed.
  const std::string near = here.write("near.txt", idle_but_waiting(600));
  CHECK(whatif(here, near).status == 0);
}

TEST_CASE("whatif: the cluster it saw can be given back") {
  const Scratch here;
  const Words more{"--policy", "fifo", "--out", "out", "--json"};
  const auto seen = nlohmann::json::parse(whatif(here, testbed_dump, more).out);
  const Ran again =
      whatif(here, testbed_dump, {"--policy", "fifo", "--cluster", "out/cluster.toml", "--json"});
  CAPTURE(again.err);
  REQUIRE(again.status == 0);
  const auto given = nlohmann::json::parse(again.out);
  CHECK(given["replay"] == seen["replay"]);
  CHECK(given["policies"] == seen["policies"]);
}

TEST_CASE("whatif: usage errors come before any reading") {
  const Scratch here;
  CHECK(here.run({"whatif"}).err.contains("--sacct FILE is missing"));
  CHECK(here.run({"whatif"}).status == 2);
  CHECK(whatif(here, testbed_dump, {"--policy", "fifo@replay"}).err.contains("is reserved"));
  CHECK(whatif(here, testbed_dump, {"--policy", "fifa"}).status == 2);
  CHECK(whatif(here, testbed_dump, {"--site", "fifa"}).err.contains("nearest: fifo"));
  CHECK(whatif(here, testbed_dump, {"--policy", "sia"}).err.contains("for elastic jobs"));
  CHECK(whatif(here, testbed_dump, {"--site", "gavel"}).err.contains("for elastic jobs"));
  CHECK(whatif(here, "absent.txt").status == 3);
  CHECK(whatif(here, testbed_dump, {"--policy", "sjf:estimate=column:x"}).status == 3);
}

TEST_CASE("whatif: broken dumps end with exit code 3 and say where, what and how to fix it") {
  const Scratch here;
  const auto dumps = broken_dumps();
  CHECK(dumps.size() >= 30);
  for (const BrokenDump& broken : dumps) {
    here.write("FILE", broken.text);
    const Ran ran = whatif(here, "FILE", {"--policy", "fifo"});
    CHECK_MESSAGE(ran.status == 3, broken.name << ": " << ran.err);
    for (const std::string& part : broken.says)
      CHECK_MESSAGE(ran.err.contains(part), broken.name << ": " << ran.err);
    CHECK_MESSAGE(std::ranges::count(ran.err, '\n') == 1, broken.name << ": " << ran.err);
  }
}

}  // namespace schedmate
