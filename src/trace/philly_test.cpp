// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "tests/support/needs.hpp"
#include "tests/support/places.hpp"
#include "trace/readers.hpp"

namespace schedmate::trace {
namespace {

using testing::fixtures;
using testing::needs_shared;
using testing::shared;

}  // namespace

TEST_CASE("philly: attempts add up and their largest width counts") {
  const Trace trace = read_trace("philly:" + fixtures + "traces/philly.json", {}).value();
  REQUIRE(trace.jobs.size() == 2);
  const Job& first = trace.jobs[0];  // submitted first, third in the file
  CHECK(first.id == "application_3");
  CHECK(first.gpus == 1);
  CHECK(first.duration == Seconds(5));
  CHECK(first.state == EndState::failed);
  CHECK(trace.users[first.user].empty());
  const Job& second = trace.jobs[1];
  CHECK(second.duration == Seconds(74 + 3600));
  CHECK(second.gpus == 4);
  CHECK(second.state == EndState::completed);
  CHECK(trace.vcs[second.vc] == "ee9e8c");
  CHECK(seconds_of(second.submit) == 1'507'338'699);  // 2017-10-07 01:11:39
  CHECK(trace.report.dropped == std::map<std::string, std::uint64_t>{
                                    {"never ran", 1}, {"still running at the end of the log", 1}});
}

TEST_CASE("philly: broken jobs are reported with the line where they begin") {
  const std::string path = fixtures + "traces/philly_broken.json";
  const Trace trace = read_trace("philly:" + path, {}).value();
  CHECK(trace.jobs.size() == 1);
  CHECK(trace.report.messages ==
        std::vector<std::string>{path + ":5: submitted_time is not a date",
                                 path + ":6: an attempt ends before it begins",
                                 path + ":8: not valid JSON",
                                 path + ":9: an attempt's time is not a date"});
  CHECK(!read_trace("philly:" + path, {.strict = true, .columns = {}}));
}

TEST_CASE("philly: the CSV form may lack users and states") {
  const Trace trace = read_trace("philly:" + fixtures + "traces/philly.csv", {}).value();
  REQUIRE(trace.jobs.size() == 2);
  CHECK(trace.users == std::vector<std::string>{""});
  CHECK(trace.jobs[1].gpus == 8);
  CHECK(trace.jobs[1].state == EndState::unknown);
}

TEST_CASE("philly: an empty text is an error, not a crash") {
  for (const char* text : {"", " \n ", "[", "[]", "{}"}) CHECK(!parse_philly(text, "t", {}));
}

TEST_CASE("philly: the real CSVs with the cluster beside them" * needs_shared("data/traces")) {
  const Trace ten = read_trace("philly:" + shared("data/traces/philly_jobs_10vc.csv.gz"),
                               {.strict = true, .columns = {}})
                        .value();
  CHECK(ten.jobs.size() == 32'861);
  CHECK(ten.vcs.size() == 10);
  REQUIRE(ten.cluster);
  CHECK(ten.cluster->partitions.size() == 11);
  const Trace one = read_trace("philly:" + shared("data/traces/philly_jobs_6214e9_nouser.csv.gz"),
                               {.strict = true, .columns = {}})
                        .value();
  CHECK(one.jobs.size() == 23'239);
}

}  // namespace schedmate::trace
