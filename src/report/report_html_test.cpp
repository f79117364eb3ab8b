// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <schedmate/report.hpp>

#include "report/chart_data.hpp"
#include "report/columns.hpp"
#include "report/sample.hpp"

namespace schedmate::report {
namespace {

RunSummary summary_named(const std::string& label) {
  const Trace trace = sample::trace();
  const ClusterSpec cluster = sample::cluster();
  RunRecord record = sample::record(trace, cluster);
  record.run.label = label;
  return summarise(record);
}

std::string page_of(const std::vector<RunSummary>& runs) {
  const Trace trace = sample::trace();
  const ClusterSpec cluster = sample::cluster();
  return report_html({.trace_spec = "swf:a<b",
                      .cluster_spec = "",
                      .commit = "abc",
                      .trace = trace,
                      .cluster = cluster},
                     runs);
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

}  // namespace

TEST_CASE("foreign text cannot add elements to the report") {
  const std::string plain = page_of({summary_named("fifo")});
  const std::string hostile = page_of({summary_named("</script><script>alert(1)</script>")});
  CHECK(count(hostile, "<script") == count(plain, "<script"));
  CHECK(count(hostile, "</script>") == count(plain, "</script>"));
  CHECK(count(hostile, "&lt;/script&gt;&lt;script&gt;alert(1)") > 0);
  CHECK(count(plain, "swf:a&lt;b") > 0);
  CHECK(count(plain, "swf:a<b") == 0);
}

TEST_CASE("the report loads nothing from outside") {
  const std::string page = page_of({summary_named("fifo")});
  CHECK(count(page, "default-src 'none'") == 1);
  CHECK(count(page, "src=\"") == 0);
  CHECK(count(page, "<link") == 0);
  CHECK(count(page, "@import") == 0);
}

TEST_CASE("jobs and rows that are in no average are named") {
  const std::string page = page_of({summary_named("fifo"), summary_named("sjf")});
  CHECK(count(page, "1 of 6 rows were dropped: no GPUs") == 1);
  CHECK(
      count(page,
            "every policy: jobs larger than their virtual cluster: 1; jobs that never ended: 0") ==
      1);
}

TEST_CASE("what looks into the future is the best of nothing") {
  RunSummary fast = summary_named("sjf");
  fast.run.oracle = "oracle";
  RunSummary middle = summary_named("qssf");
  RunSummary slow = summary_named("fifo");
  fast.jct_s.average = 10;
  middle.jct_s.average = 20;
  slow.jct_s.average = 30;
  const std::string page = page_of({fast, middle, slow});
  const auto row_of = [&](std::string_view label) {
    const std::size_t at = page.find(fmt::format("</span>{}<", label));
    REQUIRE(at != std::string::npos);
    return page.substr(at, page.find("</tr>", at) - at);
  };
  CHECK(count(row_of("sjf"), "(best)") == 0);
  CHECK(count(row_of("sjf"), "knows the future") == 1);
  CHECK(count(row_of("qssf"), "(best)") == 1);
  CHECK(count(row_of("fifo"), "(best)") == 0);
  CHECK(count(page, "sjf: looks into the future (estimate oracle)") == 1);
  middle.run.oracle = "oracle";
  CHECK(count(page_of({fast, middle, slow}), "(best)") == 0);
}

TEST_CASE("an opened page begins with what opens it and marks nothing as best") {
  const Trace trace = sample::trace();
  const ClusterSpec cluster = sample::cluster();
  const Experiment experiment{"swf:a", "", "abc", trace, cluster};
  RunSummary fast = summary_named("sjf");
  fast.jct_s.average = 10;
  const std::string page =
      report_html(experiment, std::vector<RunSummary>{fast, summary_named("fifo")},
                  ReportOpening{"A <title>", "<p id=\"it\">said first</p>"});
  CHECK(count(page, "<h1>A &lt;title&gt;</h1>") == 1);
  CHECK(page.find("said first") < page.find("class=\"facts\""));
  CHECK(count(page, "(best)") == 0);
}

TEST_CASE("a report of no run at all is still a page") {
  CHECK(page_of({}).ends_with("</html>\n"));
}

TEST_CASE("chart data are aligned, short, and as many as the labels") {
  std::vector<RunSummary> runs = {summary_named("a"), summary_named("b")};
  runs[1].timeline.bins.resize(1000);  // ends later than the other
  const auto json = nlohmann::json::parse(chart_data(runs));
  CHECK(json["labels"] == nlohmann::json({"a", "b"}));
  for (const char* figure : {"jct", "queue", "utilisation", "queued"}) {
    CAPTURE(figure);
    const auto& x = json[figure]["x"];
    CHECK(x.size() <= 300);
    REQUIRE(json[figure]["y"].size() == 2);
    CHECK(json[figure]["y"][0].size() == x.size());
    CHECK(json[figure]["y"][1].size() == x.size());
  }
  // All waits are over after 50 s, all jobs after 150 s: the curves reach 1 at the right edge.
  CHECK(json["jct"]["y"][0].back() == 1.0);
  CHECK(json["jct"]["x"].back() >= 150);
  CHECK(json["jct"]["x"].back() < 170);
  // Four bins make a point: (2.5 + 2.4 + 2) / 3 / 8 GPUs, then nothing.
  CHECK(json["utilisation"]["y"][0][0] == 0.2875);
  CHECK(json["utilisation"]["y"][0][1].is_null());
}

TEST_CASE("a column has one unit, chosen by its largest value") {
  const auto unit = [](std::vector<double> values) {
    return scale_of(Quantity::seconds, values).unit;
  };
  CHECK(unit({3, 119}) == "s");
  CHECK(unit({3, 120}) == "min");
  CHECK(unit({3, 7200}) == "h");
  CHECK(unit({3, 96 * 3600}) == "d");
  CHECK(number(2199775, {1, "", 0}) == "2,199,775");
  CHECK(number(39887.14, {3600, "h", 1}) == "11.1");
  CHECK(number(-1234, {1, "", 0}) == "-1,234");
  CHECK(number(0.5, {0.01, "%", 1}) == "50.0");
  CHECK(number(std::nan(""), {1, "", 0}) == "–");
}

TEST_CASE("the best values are marked, unless all are alike") {
  const double none = std::numeric_limits<double>::quiet_NaN();
  using Marks = std::vector<bool>;
  CHECK(best_of(std::vector<double>{3, 1, none, 1}, BetterDirection::lower) == Marks{0, 1, 0, 1});
  CHECK(best_of(std::vector<double>{3, 1, none}, BetterDirection::higher) == Marks{1, 0, 0});
  CHECK(best_of(std::vector<double>{2, 2}, BetterDirection::lower) == Marks{0, 0});
  CHECK(best_of(std::vector<double>{1, 2}, BetterDirection::neither) == Marks{0, 0});
  CHECK(best_of(std::vector<double>{none}, BetterDirection::lower) == Marks{0});
}

TEST_CASE("the terminal's table shows each label, and what fits") {
  RunSummary run = summary_named("fi\x1b[2Jfo");
  run.run.cpu_ms = 12.34;
  const std::string table = results_table(std::vector<RunSummary>{run}, 0);
  CHECK(count(table, "fi?[2Jfo") == 1);
  CHECK(count(table, "30.6 %") == 1);  // 490 / 1600
  CHECK(count(table, "12.3\n") == 1);
  const std::string narrow = results_table(std::vector<RunSummary>{run}, 40);
  CHECK(count(narrow, "policy       avg JCT    avg wait") == 1);
  RunSummary slower = run;
  slower.jct_s.average = 1.25 * run.jct_s.average;
  const std::string two = results_table(std::vector<RunSummary>{run, slower}, 0);
  CHECK(count(two, "/ first") == 1);
  CHECK(count(two, "1.000") == 1);
  CHECK(count(two, "1.250") == 1);
  CHECK(count(table, "/ first") == 0);
}

}  // namespace schedmate::report
