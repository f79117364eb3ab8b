// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "tests/support/places.hpp"
#include "trace/readers.hpp"

namespace schedmate::trace {
namespace {
using testing::fixtures;
}  // namespace

TEST_CASE("acme: Seren's dates have a zone and jobs without GPUs are left out") {
  const Trace trace = read_trace("acme:" + fixtures + "traces/acme_seren.csv", {}).value();
  REQUIRE(trace.jobs.size() == 3);
  CHECK(seconds_of(trace.jobs[0].submit) == 1'677'601'102);  // 2023-02-28 16:18:22 UTC
  CHECK(trace.jobs[0].duration == Seconds(117));
  CHECK(trace.jobs[2].duration == Seconds(60));  // no start and end: the column duration
  CHECK(trace.jobs[2].gpus == 32);
  CHECK(trace.vcs == std::vector<std::string>{"all"});
  CHECK(trace.report.dropped ==
        std::map<std::string, std::uint64_t>{{"never ran", 1}, {"no GPUs requested", 1}});
}

TEST_CASE("acme: the waiting that Kalos counts as duration is taken out") {
  const Trace trace = read_trace("acme:" + fixtures + "traces/acme_kalos.csv", {}).value();
  REQUIRE(trace.jobs.size() == 2);
  CHECK(trace.jobs[0].duration == Seconds(8));   // column duration: 18, of it 10 waiting
  CHECK(trace.jobs[1].duration == Seconds(70));  // 82, of it 12
}

TEST_CASE("acme: broken rows are counted and named") {
  const std::string path = fixtures + "traces/acme_broken.csv";
  const Trace trace = read_trace("acme:" + path, {}).value();
  CHECK(trace.jobs.size() == 1);
  CHECK(trace.report.messages ==
        std::vector<std::string>{path + ":3:105: negative duration",
                                 path + ":4:27: submit_time is not a date or a number of seconds",
                                 path + ":5:8: gpu_num is not a whole number"});
}

}  // namespace schedmate::trace
