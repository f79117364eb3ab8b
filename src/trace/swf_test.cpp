// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "tests/support/places.hpp"
#include "trace/readers.hpp"

namespace schedmate::trace {
namespace {
using testing::fixtures;
}  // namespace

TEST_CASE("swf: processors are GPUs, partitions VCs, and the header gives the cluster") {
  const Trace trace =
      read_trace("swf:" + fixtures + "traces/swf.swf", {.strict = true, .columns = {}}).value();
  REQUIRE(trace.jobs.size() == 3);
  CHECK(trace.jobs[0].gpus == 4);
  CHECK(trace.jobs[0].duration == Seconds(100));
  CHECK(trace.users[trace.jobs[0].user] == "7");
  CHECK(trace.jobs[1].gpus == 8);  // not allocated, so the request counts
  CHECK(trace.jobs[1].state == EndState::failed);
  CHECK(trace.users[trace.jobs[1].user].empty());
  CHECK(trace.report.out_of_order == 0);
  CHECK(trace.report.dropped ==
        std::map<std::string, std::uint64_t>{{"never ran", 1}, {"part of a job", 1}});
  REQUIRE(trace.cluster);
  CHECK(trace.cluster->partitions[0].name == "1");
  CHECK(trace.cluster->partitions[0].nodes == 4);
  CHECK(trace.cluster->partitions[0].gpus_per_node == 8);
}

TEST_CASE("swf: the cluster is left open when the header does not give it") {
  const std::string jobs = "1 0 5 9 4 -1 -1 4 200 -1 1 7 1 3 1 1 -1 -1\n";
  CHECK(!parse_swf(jobs, "t", {}).value().cluster);
  CHECK(!parse_swf("; MaxNodes: 3\n; MaxProcs: 32\n" + jobs, "t", {}).value().cluster);
  CHECK(!parse_swf("; MaxNodes: 1\n; MaxProcs: 65\n" + jobs, "t", {}).value().cluster);
  const std::string other = "2 0 5 9 4 -1 -1 4 200 -1 1 7 1 3 1 2 -1 -1\n";
  CHECK(!parse_swf("; MaxProcs: 32\n" + jobs + other, "t", {}).value().cluster);
  CHECK(parse_swf("; MaxProcs: 32\n" + jobs, "t", {}).value().cluster);
}

TEST_CASE("swf: broken rows are counted and named") {
  const std::string path = fixtures + "traces/swf_broken.swf";
  const Trace trace = read_trace("swf:" + path, {}).value();
  CHECK(trace.jobs.size() == 1);
  CHECK(trace.report.messages == std::vector<std::string>{path + ":2:1: a row needs 18 fields",
                                                          path + ":3:7: not a number",
                                                          path + ":4:7: negative duration",
                                                          path + ":5:1: duplicate job id"});
  CHECK(trace.report.dropped.at("no GPUs requested") == 1);
}

TEST_CASE("swf: a field can be kept as a column by its name") {
  const Trace trace =
      read_trace("swf:" + fixtures + "traces/swf.swf", {.columns = {"wanted_time_s"}}).value();
  CHECK(trace.columns.at("wanted_time_s") == std::vector<double>{200, 200, 90});
  CHECK(parse_swf("1", "t", {.columns = {"wanted_times"}}).error().message.find("nearest") !=
        std::string::npos);
}

}  // namespace schedmate::trace
