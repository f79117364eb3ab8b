// SPDX-License-Identifier: Apache-2.0
/// What whatif says its figures mean: in the text, in whatif.json and at the top of the page.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/random.hpp"
#include "base/text.hpp"
#include "tests/cli/whatif_world.hpp"
#include "trace/csv.hpp"

namespace schedmate {
namespace {

using Json = nlohmann::json;

/// What a site of one partition did under this policy. Jobs are resubmissions of a few scripts that
/// take seconds or twenty minutes.
struct Site : Scratch {
  explicit Site(std::uint64_t seed, const std::string& policy = "fifo", int jobs = 300) {
    Random random(seed);
    std::string rows = "job_id,user,vc,gpu_num,state,submit_s,duration_s\n";
    std::int64_t now = 1'700'000'000;
    std::vector<std::string> places;
    for (int i = 1; i <= jobs; ++i) {
      now += random.below(360);
      const auto user = random.below(3);
      const bool is_long = random.below(2) == 0;
      places.push_back(fmt::format("|/home/u{}|sbatch {}.sh", user, is_long ? "long" : "short"));
      rows += fmt::format("{},u{},p,{},COMPLETED,{},{}\n", i, user, 1 + random.below(4), now,
                          is_long ? 1100 + random.below(200) : 10 + random.below(20));
    }
    write("jobs.csv", rows);
    write("cluster.toml", "[[vc]]\nname = \"p\"\nnodes = 2\ngpus_per_node = 4\n");
    const Ran made = run({"simulate", "--trace", "helios:jobs.csv", "--cluster", "cluster.toml",
                          "--policy", policy + "@site", "--report", "none", "--out", "sim"});
    REQUIRE_MESSAGE(made.status == 0, made.err);
    std::string text =
        "JobID|User|Partition|State|Submit|Eligible|Start|End|AllocTRES|NodeList|WorkDir|SubmitLine"
        "\n";
    std::size_t row = 0;
    for (const auto& job : table("sim/site.jobs.csv"))
      text += fmt::format("{0}|{1}|p|COMPLETED|{2}|{2}|{3}|{4}|gres/gpu={5}|n1{6}\n",
                          job.at("job_id"), job.at("user"), job.at("submit_s"), job.at("start_s"),
                          job.at("end_s"), job.at("gpus"), places[row++]);
    write("dump.txt", text);
  }

  [[nodiscard]] std::vector<std::map<std::string, std::string>> table(std::string_view name) const {
    const std::string text = read(name);
    auto rows = trace::CsvRows::open(text, std::string(name)).value();
    std::vector<std::map<std::string, std::string>> found;
    while (rows.next()) {
      auto& cells = found.emplace_back();
      for (std::size_t i = 0; i < rows.header().size(); ++i)
        cells[rows.header()[i]] = rows.field(i);
    }
    return found;
  }

  struct Tried {
    Json document;
    std::string text, page;
  };
  [[nodiscard]] Tried with(const Words& policies, const std::string& site = "fifo") const {
    Words words{"--cluster", "cluster.toml", "--site", site, "--out", "out"};
    for (const std::string& policy : policies) {
      words.emplace_back("--policy");
      words.push_back(policy);
    }
    const Ran ran = whatif(*this, "dump.txt", words);
    REQUIRE_MESSAGE(ran.status == 0, ran.err);
    return {Json::parse(read("out/whatif.json")), ran.out, read("out/report.html")};
  }
};

/// The labels of the table that has one row a policy.
std::set<std::string> verdict_rows(const std::string& text) {
  std::set<std::string> labels;
  const std::size_t begin = text.find("\n  policy ");
  if (begin == std::string::npos) return labels;
  const std::string table = text.substr(begin + 1, text.find("\n\n", begin) - begin);
  const auto lines = split(table, '\n');
  for (std::size_t i = 1; i < lines.size(); ++i)
    if (lines[i].starts_with("  "))
      labels.insert(std::string(lines[i].substr(2, lines[i].find(' ', 2) - 2)));
  return labels;
}

using Times = std::vector<std::pair<std::string, std::string>>;
Times times_of(const Site& here, const std::string& label) {
  Times times;
  for (const auto& job : here.table("out/" + label + ".jobs.csv"))
    times.emplace_back(job.at("start_s"), job.at("end_s"));
  return times;
}

}  // namespace

TEST_CASE("whatif: whatever is tried in whatever order, an oracle is never the best") {
  const std::vector<std::string> all{"sjf@sjf_default",
                                     "srtf",
                                     "qssf:estimate=oracle@qssf_oracle",
                                     "schedmate:estimate=noisy_oracle@noisy",
                                     "sjf:estimate=advisor_oracle@advised_oracle",
                                     "qssf:advice=advisor_oracle,shrink=false@beside",
                                     "qssf:estimate=last_k@real",
                                     "tiresias",
                                     "backfill_easy:estimate=last_k@easy"};
  const std::set<std::string> oracles{"sjf_default", "srtf",           "qssf_oracle",
                                      "noisy",       "advised_oracle", "beside"};
  const Site here(3);
  Random random(11);
  for (int round = 0; round < 6; ++round) {
    Words policies;
    for (const std::string& policy : all)
      if (round == 0 || random.below(2) == 0) policies.push_back(policy);
    if (round == 1) policies = {"srtf", "sjf@sjf_default"};
    for (std::size_t i = policies.size(); i > 1; --i)
      std::swap(policies[i - 1],
                policies[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
    if (policies.empty()) continue;
    const auto tried = here.with(policies);
    for (const Json& policy : tried.document["policies"]) {
      const std::string label = policy["label"];
      CAPTURE(label);
      CHECK(policy["oracle"] == oracles.contains(label));
      if (!policy["oracle"]) continue;
      CHECK(tried.document["verdict"]["best"] != label);
      CHECK_FALSE(tried.document["verdict"]["gains"].get<std::string>().contains(label));
      if (policy["same_as"].is_null()) CHECK(tried.text.contains(label + " looks into the future"));
    }
    CHECK_FALSE(tried.page.contains("(best)"));
    if (round == 1) CHECK(tried.document["verdict"]["best"].is_null());
  }
}

TEST_CASE("whatif: limits that were made from run times make an oracle of who orders by them") {
  const Site here(4);
  const auto tried = here.with({"sjf:estimate=column:limit_s@by_limit", "tiresias"});
  CHECK(tried.document["jobs"]["limits"]["guessed"] == 300);
  CHECK(tried.document["policies"][0]["oracle"] == true);
  CHECK(tried.document["policies"][1]["oracle"] == false);
}

TEST_CASE("whatif: a row that equals its host is a sentence, never a row") {
  const std::vector<std::string> all{"qssf:estimate=last_k@qssf_last_k",
                                     "qssf+sm:estimate=last_k@qssf_sm",
                                     "tiresias",
                                     "tiresias+sm@tiresias_sm",
                                     "fifo@fifo_again",
                                     "fifo:advice=advisor@fifo_advised",
                                     "qssf@qssf_default",
                                     "backfill_easy+sm:estimate=last_k@easy_sm",
                                     "slurm_backfill+sm@slurm_sm"};
  for (const std::uint64_t seed : {1UL, 2UL, 3UL, 4UL}) {
    CAPTURE(seed);
    const Site here(seed, "fifo", seed == 1 ? 30 : 250);
    Random random(seed);
    Words policies = all;
    for (std::size_t i = policies.size(); i > 1; --i)
      std::swap(policies[i - 1],
                policies[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
    const auto tried = here.with(policies);
    const auto shown = verdict_rows(tried.text);
    std::map<Times, std::string> runs{{times_of(here, "replay"), "replay"}};
    std::size_t left_out = 0;
    for (const Json& policy : tried.document["policies"]) {
      const std::string label = policy["label"];
      CAPTURE(label);
      const bool is_shown = policy["same_as"].is_null();
      CHECK(shown.contains(label) == is_shown);
      CHECK(tried.page.contains("<tr><th scope=\"row\">" + label + "</th>") == is_shown);
      if (is_shown) {
        // No two rows, and no row and the replay, are the same run.
        CHECK(runs.emplace(times_of(here, label), label).second);
        continue;
      }
      ++left_out;
      CHECK(tried.document["verdict"]["asides"].dump().contains(label + " has no row"));
      const std::string host = policy["same_as"];
      if (std::ranges::any_of(tried.document["policies"],
                              [&](const Json& each) { return each["label"] == host; }))
        CHECK(times_of(here, label) == times_of(here, host));
    }
    CHECK(left_out >= 3);  // fifo twice, and qssf's default is last_k
    CHECK(shown.size() + left_out == all.size());
  }
}

TEST_CASE("whatif: a variant without advice is its host, also when that was not tried by itself") {
  const Site here(5, "fifo", 30);
  const auto tried = here.with({"tiresias+sm@alone"});
  const Json& policy = tried.document["policies"][0];
  CHECK(policy["advised_jobs"] == 0);
  CHECK(policy["same_as"] == "tiresias");
  CHECK(tried.text.contains("\n  advice      Used for no job in alone, which is tiresias"));
  CHECK(verdict_rows(tried.text).empty());
}

TEST_CASE("whatif: the jobs for which advice was used are those of the jobs CSV") {
  std::uint64_t used = 0;
  for (const std::uint64_t seed : {1UL, 2UL, 3UL}) {
    const Site here(seed);
    const auto tried = here.with({"qssf+sm@order", "schedmate+sm@full", "sjf:estimate=advisor@by",
                                  "tiresias", "qssf:advice=advisor,shrink=false@plain"});
    const Json summary = Json::parse(here.read("out/summary.json"));
    for (const Json& policy : tried.document["policies"]) {
      const std::string label = policy["label"];
      CAPTURE(label);
      std::uint64_t counted = 0;
      for (const auto& job : here.table("out/" + label + ".jobs.csv"))
        if (const auto cell = job.find("advised"); cell != job.end() && cell->second == "1")
          ++counted;
      CHECK(summary["labels"][label]["advised_jobs"] == policy["advised_jobs"]);
      if (label == "tiresias") {
        CHECK(policy["advised_jobs"].is_null());
        CHECK(counted == 0);
        continue;
      }
      CHECK(policy["advised_jobs"] == counted);
      used += counted;
      const std::string said = counted == 0
                                   ? fmt::format("for no job in {}", label)
                                   : fmt::format("for {} of 300 jobs in {}", counted, label);
      CHECK(tried.document["verdict"]["advice"].get<std::string>().contains(said));
    }
  }
  CHECK(used > 0);
}

TEST_CASE("whatif: the page opens with the verdict, and is one file without a network") {
  const Site here(6);
  const auto tried = here.with({"qssf:estimate=last_k@real", "srtf"});
  const auto at = [&](std::string_view part) { return tried.page.find(part); };
  const Json& verdict = tried.document["verdict"];
  REQUIRE(verdict["best"] == "real");
  std::size_t last = at("<h1>What another scheduler would change (dump.txt)</h1>");
  REQUIRE(last != std::string::npos);
  for (const char* part :
       {"Can the replay be trusted?", "What would be gained?", "Who would lose?",
        "What do failures cost?", "How sure is this?", "Policies against what you have",
        "<h2>Details</h2>", "class=\"facts\""}) {
    CAPTURE(part);
    REQUIRE(at(part) != std::string::npos);
    CHECK(at(part) > last);
    last = at(part);
  }
  std::string plain = tried.page;
  for (const std::string_view tag : {"<strong>", "</strong>"})
    for (std::size_t found = 0; (found = plain.find(tag)) != std::string::npos;)
      plain.erase(found, tag.size());
  // The sentences of the page, of the document and of the text are the same.
  for (const char* name : {"fidelity", "gains", "losers", "failures", "confidence"}) {
    const std::string sentence = verdict[name];
    CHECK_FALSE(sentence.empty());
    CHECK(plain.contains("<dd>" + sentence + "</dd>"));
    CHECK(tried.text.contains(fmt::format("\n  {:<12}{}", name, sentence.substr(0, 30))));
  }
  CHECK(at("default-src 'none'") != std::string::npos);
  for (const char* remote : {"src=\"http", "href=\"http", "@import", "url(http"})
    CHECK_FALSE(tried.page.contains(remote));
}

TEST_CASE("whatif: a gain below the replay's error or within the draws is too small to tell") {
  int seen = 0;
  for (const int jobs : {15, 30, 45, 60}) {
    const Site here(7, "fifo", jobs);
    const Ran ran = whatif(here, "dump.txt",
                           {"--cluster", "cluster.toml", "--site", "backfill_easy:estimate=last_k",
                            "--policy", "qssf:estimate=last_k@q", "--policy", "schedmate@s",
                            "--policy", "tiresias", "--policy", "fifo", "--out", "out"});
    if (ran.status == 1) continue;  // nothing is compared with a replay that is too far off
    REQUIRE_MESSAGE(ran.status == 0, ran.err);
    const Json document = Json::parse(here.read("out/whatif.json"));
    for (const Json& policy : document["policies"]) {
      if (!policy["same_as"].is_null()) continue;
      const Json& all = policy["all"];
      const double effect = std::abs(all["mean_ln_jct_ratio"].get<double>());
      const double error = all["replay_mean_abs_ln_jct_ratio"].get<double>() +
                           std::abs(all["replay_mean_ln_jct_ratio"].get<double>());
      const double low = all["ci95"][0];
      const double high = all["ci95"][1];
      if (effect > error && low * high > 0) continue;
      ++seen;
      const std::string label = policy["label"];
      CAPTURE(label);
      CHECK(document["verdict"]["best"] != label);
      CHECK(document["verdict"]["confidence"].get<std::string>().contains("Too small to tell"));
      const std::size_t row = ran.out.find("\n  " + label + " ");
      REQUIRE(row != std::string::npos);
      CHECK(
          ran.out.substr(row + 1, ran.out.find('\n', row + 1) - row).contains("too small to tell"));
    }
  }
  CHECK(seen > 0);
}

TEST_CASE("whatif: a verdict on a replay that is too far off names the way out") {
  const Scratch here;
  std::string dump = "JobID|User|Partition|State|Submit|Eligible|Start|End|AllocTRES|NodeList\n";
  for (int i = 1; i <= 8; ++i)  // each waits two hours though the node is idle
    dump += fmt::format("{0}|ann|p|COMPLETED|{1}|{1}|{2}|{3}|gres/gpu=4|n1\n", i, 20'000 * i,
                        20'000 * i + 7200, 20'000 * i + 7300);
  here.write("dump.txt", dump);
  const Ran ran = whatif(here, "dump.txt", {"--out", "out"});
  CHECK(ran.status == 1);
  CHECK(ran.out.contains("\n  fidelity    NOT good enough: "));
  const Json verdict = Json::parse(here.read("out/whatif.json"))["verdict"];
  CHECK(verdict["best"].is_null());
  CHECK(verdict["fidelity"].get<std::string>().contains("--site fifo"));
  CHECK(verdict["gains"] == "Not known.");
  CHECK(verdict["losers"] == "Not known.");
  CHECK(here.read("out/report.html").contains("<dd><strong>NOT good enough:</strong>"));
}

}  // namespace schedmate
