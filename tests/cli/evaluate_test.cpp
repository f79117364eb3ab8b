// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "tests/cli/evaluate_world.hpp"
#include "trace/csv.hpp"

namespace schedmate {

TEST_CASE("evaluate: equal bytes on repetition and on any number of threads") {
  const World one;
  const World two;
  const Ran ran = one.evaluate("out");
  REQUIRE_MESSAGE(ran.status == 0, ran.err);
  REQUIRE(two.evaluate("out", "3").status == 0);
  for (const char* file : {"out/small.csv", "out/evaluation.html", "report/evaluation.md",
                           "report/evaluation/small.md"}) {
    CHECK_FALSE(one.read(file).empty());
    CHECK_MESSAGE(one.read(file) == two.read(file), file);
  }
}

TEST_CASE("evaluate: what is there is not run again, and what was changed is") {
  const World here;
  REQUIRE(here.evaluate("out").status == 0);
  const std::string csv = here.read("out/small.csv");
  CHECK(here.evaluate("out").out.contains("already exists"));
  here.write("out/small.csv", csv + "x");
  CHECK_FALSE(here.evaluate("out").out.contains("already exists"));
  CHECK(here.read("out/small.csv") == csv);
  here.write("jobs.csv", two_node_crowd() + "301,u1,p,1,COMPLETED,40000,100\n");
  CHECK_FALSE(here.evaluate("out").out.contains("already exists"));
}

TEST_CASE("evaluate: what is cited is shown as it was run, and not run") {
  const World here;
  here.write("other.toml", std::string(small_experiment) + "label = \"f\"\n");
  const auto report = [&] {
    const Ran ran = here.run({"evaluate", "small.toml", "--cite", "other.toml", "--out", "out",
                              "--book", "report/evaluation.md"});
    REQUIRE_MESSAGE(ran.status == 0, ran.err);
    return here.report("other");
  };
  CHECK(report().contains("Not run yet: no figures until schedmate evaluate other.toml"));
  CHECK(here.read("out/other.csv").empty());
  REQUIRE(here.run({"evaluate", "other.toml", "--out", "out"}).status == 0);
  CHECK(report().contains("Lines of [../../out/other.csv](../../out/other.csv)"));
  CHECK_FALSE(report().contains("earlier version"));
  CHECK(here.run({"evaluate", "--cite", "other.toml", "--out", "out"}).status == 0);
  std::string manifest = here.read("out/other.manifest");
  const std::size_t code = manifest.find("code ") + 5;
  manifest.replace(code, 4, "zzzz");
  here.write("out/other.manifest", manifest);
  CHECK(report().contains("earlier version of the program (code zzzz"));
  CHECK(report().contains("Lines of [../../out/other.csv](../../out/other.csv)"));
  // A trace more, and the inputs are not here: the CSV stands, without rows of that trace.
  here.write("other.toml",
             here.read("other.toml") + "[[trace]]\nname = \"far\"\ntrace = \"helios:far.csv\"\n");
  CHECK(report().contains("Lines of [../../out/other.csv](../../out/other.csv)"));
}

TEST_CASE("evaluate: why what is cited has no figures, and what makes them") {
  const World here;
  const auto report = [&] {
    const Ran ran = here.run(
        {"evaluate", "--cite", "small.toml", "--out", "out", "--book", "report/evaluation.md"});
    REQUIRE_MESSAGE(ran.status == 0, ran.err);
    return here.report();
  };
  const std::string hint =
      ": no figures until schedmate evaluate small.toml --out out has made them.";
  const auto run = [&] {
    REQUIRE(here.run({"evaluate", "small.toml", "--out", "out"}).status == 0);
    CHECK_FALSE(report().contains("no figures until"));
  };
  CHECK(report().contains("Not run yet" + hint));
  run();
  here.write("out/small.csv", here.read("out/small.csv") + "x");
  CHECK(report().contains("not match its manifest (changed by hand?)" + hint));
  run();
  here.write("jobs.csv", two_node_crowd() + "301,u1,p,1,COMPLETED,40000,100\n");
  const std::string earlier = report();
  CHECK_FALSE(earlier.contains("no figures until"));
  CHECK(
      earlier.contains("Made from earlier inputs (the experiment file or what it names has changed "
                       "since); schedmate evaluate small.toml --out out makes it anew."));
  CHECK(earlier.contains("(an earlier version)"));
  run();
  CHECK_FALSE(report().contains("an earlier version"));
}

TEST_CASE("evaluate: later code that repeats the sample need not run the rest") {
  const World here;
  const auto evaluate = [&] {
    const Ran ran = here.run({"evaluate", "small.toml", "--out", "out", "--book", "report.md"});
    REQUIRE_MESSAGE(ran.status == 0, ran.err);
    return ran.out;
  };
  // As if another code had made it, that gave the sample `sample`.
  const auto by_other_code = [&](const std::string& sample) {
    std::string manifest = here.read("out/small.manifest");
    manifest = manifest.substr(0, manifest.find("same "));
    manifest.replace(manifest.find("code ") + 5, 4, "zzzz");
    if (!sample.empty()) manifest.replace(manifest.find("sample ") + 7, sample.size(), sample);
    here.write("out/small.manifest", manifest);
  };
  evaluate();
  CHECK(here.read("out/small.manifest").contains("sample "));
  CHECK(evaluate().contains("already exists"));
  by_other_code("");
  CHECK(evaluate().contains("already exists"));
  CHECK(here.read("out/small.manifest").contains("same "));
  CHECK(here.read("report/small.md").contains("Made by code zzzz"));
  CHECK_FALSE(here.read("report/small.md").contains("earlier version"));
  by_other_code("zzzz");
  CHECK(evaluate().contains("out/small.csv: "));
  CHECK_FALSE(here.read("out/small.manifest").contains("zzzz"));
  CHECK_FALSE(here.read("report/small.md").contains("Made by code"));
}

TEST_CASE("evaluate: a line for each arm on the terminal, each figure in JSON") {
  const World here;
  const Ran text = here.evaluate("out");
  REQUIRE_MESSAGE(text.status == 0, text.err);
  CHECK(text.out.contains("small, crowd, "));
  CHECK(text.out.contains("average JCT x"));
  CHECK(text.out.contains("\nsm.oracle "));
  CHECK(text.out.contains("written to out/evaluation.html"));
  const Ran ran = here.run({"evaluate", "small.toml", "--out", "out", "--json"});
  REQUIRE_MESSAGE(ran.status == 0, ran.err);
  const auto document = nlohmann::json::parse(ran.out);
  CHECK(document["schema"] == "schedmate.evaluate.v1");
  const auto rows = rows_of(here.read("out/small.csv"));
  bool seen = false;
  for (const auto& arm : document["experiments"][0]["arms"]) {
    if (arm["arm"] != "sm") continue;
    seen = true;
    CHECK(fmt::format("{:.6g}", arm["figures"]["jct_s"]["value"].get<double>()) ==
          value_of(rows, "sm", "jct_s"));
  }
  CHECK(seen);
}

TEST_CASE("evaluate: intervals stand behind figures, and columns where their titles do") {
  const World here;
  const Ran ran = here.evaluate("out");
  REQUIRE_MESSAGE(ran.status == 0, ran.err);
  const auto width = [](std::string_view text) {
    return std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
  };
  const std::string row = ran.out.substr(ran.out.find("\nsm.oracle ") + 1);
  const std::string line = row.substr(0, row.find('\n'));
  const std::string head = ran.out.substr(ran.out.find("arm "), ran.out.find("\nqssf") - 1);
  const auto value =
      parse_number<double>(value_of(rows_of(here.read("out/small.csv")), "sm.oracle", "jct_ratio"));
  const std::string factor = fmt::format("  {:.3f} ±0.", value.value());
  REQUIRE(line.contains(factor));
  CHECK(width(line.substr(0, line.find(factor) + 2)) ==
        width(head.substr(0, head.find("average JCT x"))));
}

TEST_CASE("evaluate: estimators against each other") {
  const World here;
  here.write("small.toml", R"(title = "Errors"
estimates = true
perturbations = 2
warm_up_days = 0
host = "last_k"
[[trace]]
name = "crowd"
trace = "helios:jobs.csv"
cluster = "cluster.toml"
[[arm]]
policy = "oracle"
[[arm]]
policy = "oracle_retrieval"
)");
  const Ran ran = here.evaluate("out");
  REQUIRE_MESSAGE(ran.status == 0, ran.err);
  const auto rows = rows_of(here.read("out/small.csv"));
  CHECK(value_of(rows, "oracle_retrieval", "use_within_100") != "absent");
  CHECK(value_of(rows, "oracle", "within_10") == "1");
  CHECK(value_of(rows, "oracle", "median_error") == "0");
  CHECK(value_of(rows, "last_k", "within_10") != "1");
}

TEST_CASE("evaluate: a sweep has each arm at each point, and a policy may hold the point") {
  const World here;
  std::string text(small_experiment);
  text +=
      "[sweep]\nvalues = [\"1\", \"5\"]\n[[arm]]\nlabel = \"k\"\n"
      "policy = \"sjf:estimate=last_k:{at}\"\n";
  here.write("small.toml", text);
  const Ran ran = here.evaluate("out");
  REQUIRE_MESSAGE(ran.status == 0, ran.err);
  const std::string csv = here.read("out/small.csv");
  CHECK(csv.contains("small,crowd,1,k,qssf,sjf:estimate=last_k:1,ln_ratio,"));
  CHECK(csv.contains("small,crowd,5,k,qssf,sjf:estimate=last_k:5,ln_ratio,"));
}

TEST_CASE("evaluate: each perturbation draws its own failures, the same in every arm") {
  const World here;
  std::string jobs = "job_id,user,vc,gpu_num,state,submit_s,duration_s\n";
  for (int i = 1; i <= 10; ++i)  // none waits
    jobs += fmt::format("{},ann,p,1,COMPLETED,{},50000\n", i, 10 * i);
  here.write("jobs.csv", jobs);
  here.write("small.toml", R"(title = "Failures"
perturbations = 4
warm_up_days = 0
host = "fifo"
[settings]
cost.failure_gpu_hours = 20
[[trace]]
name = "idle"
trace = "helios:jobs.csv"
cluster = "cluster.toml"
[[arm]]
policy = "sjf:estimate=last_k"
)");
  const Ran ran = here.evaluate("out");
  REQUIRE_MESSAGE(ran.status == 0, ran.err);
  const std::string csv = here.read("out/small.csv");
  CHECK(value_of(rows_of(csv), "sjf", "ln_ratio") == "0");
  auto rows = trace::CsvRows::open(csv, "csv").value();
  const auto number = [&](std::string_view name) {
    return parse_number<double>(rows.field(rows.need(name).value())).value();
  };
  while (rows.next())
    if (rows.field(rows.need("figure").value()) == "jct_s")
      CHECK(number("high") - number("low") > 100);
}

TEST_CASE("evaluate: broken experiments say what, where and how to fix it") {
  struct Broken {
    std::string_view from, to, says;
    int status = 3;
  };
  const Broken broken[] = {
      {"title = \"Small | <b>crowd</b>\"", "", "small.toml:1:1: title is missing"},
      {"host = \"qssf\"", "host = \"qsf\"", "nearest: qssf"},
      {"perturbations = 3", "perturbations = 1",
       "perturbations must be a whole number from 2 to 1000"},
      {"workload = \"heavy\"", "wrkload = \"heavy\"", "small.toml:8:11: unknown setting 'wrkload'"},
      {"name = \"crowd\"", "nmae = \"crowd\"", "unknown key 'nmae'"},
      {"trace = \"helios:jobs.csv\"", "", "only venus and philly are bundled"},
      {"policy = \"fifo\"", "policy = \"qssf+sm\"\nlabel = \"sm\"", "the arm sm is listed twice"},
      {"policy = \"fifo\"", "policy = \"fifo\"\nhost = \"nobody\"", "host nobody: no such arm"},
      {"warm_up_days = 0.05", "warm_up_days = 50", "no job is left after a warm-up of 50 days"},
      {"standard = true", "standard = \"yes\"", "standard must be true or false"},
      {"host = \"qssf\"", "host = qssf", "small.toml:6:"},
      {"policy = \"fifo\"", "policy = \"fifo:none=1\"", "small.toml: arm fifo:", 2},
      {"trace = \"helios:jobs.csv\"", "trace = \"helios:absent.csv\"", "absent.csv"}};
  for (const Broken& each : broken) {
    const World here;
    std::string text(small_experiment);
    text.replace(text.find(each.from), each.from.size(), each.to);
    here.write("small.toml", text);
    const Ran ran = here.evaluate("out");
    CHECK_MESSAGE(ran.status == each.status, each.to);
    CHECK_MESSAGE(ran.err.contains(each.says), ran.err);
    CHECK_MESSAGE(std::ranges::count(ran.err, '\n') == 1, ran.err);
  }
}

TEST_CASE("evaluate: what the command line lacks") {
  const World here;
  CHECK(here.run({"evaluate", "--out", "out"}).status == 2);
  CHECK(here.run({"evaluate", "small.toml"}).status == 2);
  CHECK(here.run({"evaluate", "absent.toml", "--out", "out"}).status == 3);
  const Ran unnamed = here.run({"evaluate", "small.toml", "--out", "out", "--book", "report"});
  CHECK(unnamed.status == 2);
  CHECK(unnamed.err.contains("the name must end in .md"));
  const Ran twice = here.run({"evaluate", "small.toml", "small.toml", "--out", "out"});
  CHECK(twice.err.contains("small.toml and small.toml would write the same CSV"));
  const Ran cited = here.run({"evaluate", "small.toml", "--cite", "small.toml", "--out", "out"});
  CHECK(cited.status == 2);
  CHECK(cited.err.contains("--cite small.toml: small.toml already has that CSV; leave one"));
}

}  // namespace schedmate
