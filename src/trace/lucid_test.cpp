// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "tests/support/needs.hpp"
#include "tests/support/places.hpp"
#include "trace/lucid_forecast.hpp"
#include "trace/readers.hpp"

namespace schedmate::trace {
namespace {

using testing::fixtures;
using testing::needs_shared;
using testing::shared;

}  // namespace

TEST_CASE("lucid: a folder gives jobs, profiles, pairs, forecast and cluster") {
  const Trace trace =
      read_trace("lucid:" + fixtures + "traces/lucid", {.strict = true, .columns = {"est_a"}})
          .value();
  REQUIRE(trace.jobs.size() == 3);
  CHECK(trace.jobs[0].id == "11");  // 9 has the same second and comes later in the file
  CHECK(trace.jobs[1].id == "9");
  CHECK(seconds_of(trace.jobs[2].submit) == 13'219'304);  // a date, 153 days and 104 s in
  CHECK(trace.columns.at("est_a") == std::vector<double>{-15, 629, 2247});
  REQUIRE(trace.cluster);
  CHECK(trace.cluster->partitions[1].name == "vcB");
  CHECK(trace.cluster->partitions[1].nodes == 5);
  REQUIRE(trace.forecast);
  CHECK(seconds_of(trace.forecast->first) == 13'219'200);
  CHECK(trace.forecast->step == Seconds(600));
  CHECK(trace.forecast->jobs == std::vector<double>{5.4, 5.8, -0.3});
  CHECK(trace.forecast->gpus.back() == 31.0);
}

TEST_CASE("lucid: jobs find their profile and one that the table lacks gets its own") {
  const Trace trace = read_trace("lucid:" + fixtures + "traces/lucid", {}).value();
  REQUIRE(trace.packing);
  const PackingTables& tables = *trace.packing;
  REQUIRE(tables.profiles.size() == 3);
  CHECK(trace.jobs[0].profile == 0);
  CHECK(trace.jobs[1].profile == 1);
  CHECK(trace.jobs[2].profile == 2);
  CHECK(tables.profiles[2].model == "syn_actor");
  CHECK(tables.profiles[2].sharing_score == 1);  // from share_label
  CHECK(tables.profiles[0].mixed_precision);
  CHECK(tables.profiles[0].memory_mib == 3642.0);
  CHECK(tables.profiles[1].interference_free);
  CHECK(tables.pairs.size() == 9);
  CHECK(tables.pairs[1].newcomer == 0.9);  // syn_net joins NeuMF
  CHECK(tables.pairs[3].newcomer == 0.8);  // NeuMF joins syn_net
  CHECK(tables.pairs[0].resident == 0.7);
}

TEST_CASE("lucid: tables may be absent") {
  const Trace trace =
      parse_lucid("job_id,gpu_num,submit_time,duration\n1,1,5,6\n", "t", {}).value();
  REQUIRE(trace.jobs.size() == 1);
  CHECK(trace.jobs[0].profile == no_index);
  CHECK(!trace.packing);
}

TEST_CASE("lucid: a damaged table is an error with its place") {
  const auto trace = read_trace("lucid:" + fixtures + "traces/lucid_broken", {});
  REQUIRE(!trace);
  CHECK(trace.error().message ==
        fixtures +
            "traces/lucid_broken/single_data.csv:2:30: gpu_util is not a number from 0 to 100");
  CHECK(!read_trace("lucid:" + fixtures + "traces/absent", {}));
  CHECK(read_trace("lucid:" + fixtures + "traces", {}).error().message.find("no jobs.csv") !=
        std::string::npos);
}

TEST_CASE("lucid: forecasts must go forward in even steps") {
  const std::string head = "time,pred_gpu_job,pred_gpu_num\n2020-04-01 00:00:00,1,2\n";
  CHECK(seconds_of(parse_lucid_forecast(head, "t").value().first) == 0);
  CHECK(!parse_lucid_forecast(head + "2020-04-01 00:00:00,1,2\n", "t"));
  CHECK(!parse_lucid_forecast(head + "2020-04-01 00:10:00,1,nan\n", "t"));
  const auto uneven =
      parse_lucid_forecast(head + "2020-04-01 00:10:00,1,2\n2020-04-01 00:30:00,1,2\n", "t");
  REQUIRE(!uneven);
  CHECK(uneven.error().message == "t:4:1: rows are not evenly spaced");
}

TEST_CASE("lucid: the real folder reads as its description says" *
          needs_shared("data/lucid/input")) {
  const Trace trace = read_trace("lucid:" + shared("data/lucid/input"),
                                 {.strict = true, .columns = {"ord", "est_lgb"}})
                          .value();
  REQUIRE(trace.jobs.size() == 11'534);
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    REQUIRE(trace.columns.at("ord")[i] == static_cast<double>(i));
    REQUIRE(trace.jobs[i].profile < 66);
  }
  CHECK(trace.packing->profiles.size() == 66);
  CHECK(seconds_of(trace.forecast->first) == 13'219'200);
  CHECK(trace.forecast->jobs.size() == 4'032);
  CHECK(trace.cluster->partitions.size() == 15);
}

}  // namespace schedmate::trace
