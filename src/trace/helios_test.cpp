// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/random.hpp"
#include "tests/support/needs.hpp"
#include "tests/support/places.hpp"
#include "trace/readers.hpp"

namespace schedmate::trace {
namespace {

using testing::fixtures;
using testing::needs_shared;
using testing::shared;

struct Row {
  std::string id, user, vc;
  std::int64_t submit_s, duration_s;
  int gpus;
  EndState state;
};

std::vector<Row> random_rows(std::uint64_t seed) {
  Random random(seed);
  std::vector<Row> rows;
  std::int64_t submit_s = random.between(-1000, 1'600'000'000);
  for (std::int64_t i = random.between(1, 200); i > 0; --i) {
    submit_s += random.below(4) == 0 ? 0 : random.below(5000);
    rows.push_back({fmt::format("{}, \"{}\"", i, random.below(1000)),
                    random.below(5) == 0 ? "" : fmt::format("u{}", random.below(20)),
                    fmt::format("vc {}", random.below(5)), submit_s,
                    random.below(2) == 0 ? random.below(10) : random.below(10'000'000),
                    static_cast<int>(random.between(1, 64)),
                    static_cast<EndState>(random.below(9))});
  }
  return rows;
}

std::string write_helios(const std::vector<Row>& rows) {
  std::string text = "job_id,user,vc,gpu_num,state,submit_s,duration_s\r\n";
  for (const Row& row : rows) {
    const std::size_t comma = row.id.find(',');
    text += fmt::format("\"{}, \"\"{},{},{},{},{},{},{}\r\n", row.id.substr(0, comma),
                        row.id.substr(comma + 3, row.id.size() - comma - 4) + "\"\"\"", row.user,
                        row.vc, row.gpus, to_string(row.state), row.submit_s, row.duration_s);
  }
  return text;
}

}  // namespace

TEST_CASE("helios: dates, quoted names, CPU jobs and a clock that goes back") {
  const Trace trace = read_trace("helios:" + fixtures + "traces/helios.csv", {}).value();
  REQUIRE(trace.jobs.size() == 4);
  const Job& first = trace.jobs[0];
  CHECK(first.id == "1425511");
  CHECK(seconds_of(first.submit) == 1'591'728'061);  // 2020-06-09 18:41:01
  CHECK(first.duration == Seconds(36'848));
  CHECK(trace.users[first.user] == "uXBbc");
  CHECK(trace.vcs[first.vc] == "vcJkd");
  CHECK(trace.jobs[1].id == "1425513");  // submitted at :20, last in the file
  CHECK(trace.jobs[1].state == EndState::cancelled);
  CHECK(trace.jobs[3].gpus == 16);
  CHECK(trace.jobs[3].state == EndState::timeout);
  CHECK(trace.report.out_of_order == 1);
  CHECK(trace.report.rows == 5);
  CHECK(trace.report.dropped == std::map<std::string, std::uint64_t>{{"no GPUs requested", 1}});
  CHECK(!trace.cluster);
}

TEST_CASE("helios: each broken row is counted with its reason and place") {
  const std::string path = fixtures + "traces/helios_broken.csv";
  const Trace trace = read_trace("helios:" + path, {}).value();
  CHECK(trace.jobs.size() == 2);
  CHECK(trace.report.rows == 13);
  CHECK(trace.report.dropped.size() == 11);
  const std::vector<std::string> expected = {":3:1: duplicate job id",
                                             ":4:30: negative duration",
                                             ":5:30: duration above 10 years",
                                             ":6:10: gpu_num is not a whole number",
                                             ":7:26: submit_s is not a date or a number of seconds",
                                             ":8:1: fewer fields than the header line has",
                                             ":9:1: a quote is not closed",
                                             ":10:10: negative number of GPUs",
                                             ":11:1: job id is empty",
                                             ":12:10: more than a million GPUs"};
  REQUIRE(trace.report.messages.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(trace.report.messages[i] == path + expected[i]);
  }
  const auto strict = read_trace("helios:" + path, {.strict = true, .columns = {}});
  REQUIRE(!strict);
  CHECK(strict.error().message == path + expected[0]);
}

TEST_CASE("helios: what is written is what is read") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    std::vector<Row> rows = random_rows(seed);
    const Trace trace =
        parse_helios(write_helios(rows), "t", {.strict = true, .columns = {}}).value();
    REQUIRE(trace.jobs.size() == rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Job& job = trace.jobs[i];
      CHECK(job.id == rows[i].id);
      CHECK(trace.users[job.user] == rows[i].user);
      CHECK(trace.vcs[job.vc] == rows[i].vc);
      CHECK(job.gpus == rows[i].gpus);
      CHECK(job.state == rows[i].state);
      CHECK(seconds_of(job.submit) == rows[i].submit_s);
      CHECK(job.duration == Seconds(rows[i].duration_s));
    }
  }
}

TEST_CASE("helios: extra numeric columns come along, others are ignored") {
  const std::string text =
      "syn_limit,job_id,user,vc,gpu_num,submit_s,duration_s,syn_word\n"
      "70.5,1,u,v,1,9,60,x\n"
      "80,2,u,v,1,8,60,y\n";
  const Trace trace = parse_helios(text, "t", {.columns = {"syn_limit"}}).value();
  CHECK(trace.columns.at("syn_limit") == std::vector<double>{80, 70.5});
  CHECK(parse_helios(text, "t", {.columns = {"syn_limits"}}).error().message ==
        "t: the header line has no column 'syn_limits' (nearest: syn_limit)");
  CHECK(!parse_helios(text, "t", {.columns = {"syn_word"}}));
}

TEST_CASE("helios: the real Venus days with the cluster beside them" *
          needs_shared("data/traces")) {
  const Trace trace = read_trace("helios:" + shared("data/traces/venus_sept2020_jobs.csv.gz"),
                                 {.strict = true, .columns = {}})
                          .value();
  CHECK(trace.jobs.size() == 11'534);
  CHECK(trace.report.out_of_order == 0);
  CHECK(trace.users.size() > 90);
  REQUIRE(trace.cluster);
  CHECK(trace.cluster->partitions.size() == 15);
  int nodes = 0;
  for (const PartitionSpec& each : trace.cluster->partitions) nodes += each.nodes;
  CHECK(nodes == 135);
  CHECK(std::ranges::count(trace.jobs, EndState::node_fail, &Job::state) == 5);
}

}  // namespace schedmate::trace
