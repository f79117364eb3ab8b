// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "tests/support/places.hpp"
#include "trace/readers.hpp"

namespace schedmate::trace {
namespace {

using testing::fixtures;

using Counts = std::map<std::string, std::uint64_t>;

}  // namespace

TEST_CASE("sacct text: steps, CPU jobs and unfinished jobs are skipped and counted") {
  const Trace trace =
      read_trace("sacct:" + fixtures + "traces/sacct.txt", {.strict = true, .columns = {}}).value();
  REQUIRE(trace.jobs.size() == 3);
  CHECK(trace.jobs[0].gpus == 2);
  CHECK(trace.jobs[0].duration == Seconds(3600));
  CHECK(seconds_of(trace.jobs[0].submit) == 1'709'287'200);  // 2024-03-01 10:00:00
  CHECK(trace.jobs[1].id == "104_7");
  CHECK(trace.jobs[1].duration == Seconds(86'400 + 3661));
  CHECK(trace.jobs[1].state == EndState::timeout);
  CHECK(trace.jobs[2].gpus == 1);  // only a typed entry
  CHECK(trace.jobs[2].state == EndState::out_of_memory);
  CHECK(trace.vcs == std::vector<std::string>{"gpu"});
  CHECK(trace.report.dropped == Counts{{"job step", 2},
                                       {"never ran", 2},
                                       {"no GPUs requested", 1},
                                       {"still running at the end of the log", 1}});
}

TEST_CASE("sacct text: any field order, raw seconds, and broken rows") {
  const std::string path = fixtures + "traces/sacct_broken.txt";
  const Trace trace = read_trace("sacct:" + path, {}).value();
  REQUIRE(trace.jobs.size() == 1);
  CHECK(trace.jobs[0].duration == Seconds(60));
  CHECK(trace.report.messages ==
        std::vector<std::string>{path + ":3:28: elapsedraw is not a run time",
                                 path + ":4:31: submit is not a date or a number of seconds",
                                 path + ":5:1: fewer fields than the header line has",
                                 path + ":6:15: duplicate job id"});
}

TEST_CASE("sacct text: without Elapsed the run time is End - Start") {
  const std::string text =
      "JobID|Submit|Start|End|ReqTRES\n"
      "1|2024-03-01T10:00:00|2024-03-01T10:00:10|2024-03-01T10:01:10|gres/gpu=3\n";
  const Trace trace = parse_sacct(text, "t", {}).value();
  CHECK(trace.jobs[0].duration == Seconds(60));
  CHECK(trace.jobs[0].gpus == 3);
  CHECK(parse_sacct("JobID|Submit|AllocTRES\n", "t", {})
            .error()
            .message.find("no column 'Elapsed'") != std::string::npos);
}

TEST_CASE("sacct JSON: old and new releases give the same jobs") {
  const Trace old =
      read_trace("sacct:" + fixtures + "traces/sacct_21.json", {.strict = true, .columns = {}})
          .value();
  const Trace now =
      read_trace("sacct:" + fixtures + "traces/sacct_25.json", {.strict = true, .columns = {}})
          .value();
  for (const Trace* trace : {&old, &now}) {
    REQUIRE(trace->jobs.size() == 2);
    CHECK(trace->jobs[0].id == "101");
    CHECK(trace->jobs[0].gpus == 2);
    CHECK(seconds_of(trace->jobs[0].submit) == 1'709'287'200);
    CHECK(trace->jobs[0].duration == Seconds(3600));
    CHECK(trace->jobs[0].state == EndState::completed);
    CHECK(trace->jobs[1].id == "120_3");
    CHECK(trace->jobs[1].gpus == 4);
    CHECK(trace->jobs[1].state == EndState::failed);
    CHECK(trace->users == std::vector<std::string>{"ann", "bob"});
  }
  CHECK(old.report.dropped == Counts{{"never ran", 1}});
  CHECK(now.report.dropped == Counts{{"still running at the end of the log", 1}});
}

TEST_CASE("sacct JSON: broken jobs are counted with their lines") {
  const std::string path = fixtures + "traces/sacct_broken.json";
  const Trace trace = read_trace("sacct:" + path, {}).value();
  CHECK(trace.jobs.size() == 1);
  CHECK(trace.report.messages ==
        std::vector<std::string>{path + ":3: the job has no object \"time\"",
                                 path + ":4: time.submission is not a whole number",
                                 path + ":5: neither time.elapsed nor time.end is set",
                                 path + ":6: not valid JSON",
                                 path + ":7: duration above 10 years"});
}

TEST_CASE("sacct JSON: a text that ends early is an error") {
  const std::string text = read_file(fixtures + "traces/sacct_25.json").value();
  const std::size_t end = text.find("\"meta\"") - 6;  // before the bracket that ends the jobs
  for (std::size_t length = 0; length < end; length += 7) {
    CHECK_MESSAGE(!parse_sacct(text.substr(0, length), "t", {}), length);
  }
}

TEST_CASE("sacct JSON: a log longer than any buffer is read job by job") {
  std::string text = "{\"jobs\": [";
  for (int i = 1; i <= 3000; ++i) {
    text += (i == 1 ? "" : ",\n") + ("{\"job_id\": " + std::to_string(i)) +
            ", \"time\": {\"elapsed\": 10, \"start\": 100, \"submission\": 90}, \"tres\": "
            "{\"allocated\": [{\"type\": \"gres\", \"name\": \"gpu\", \"count\": 1}]}, \"x\": \"" +
            std::string(static_cast<std::size_t>(i % 200), 'x') + "\"}";
  }
  const Trace trace = parse_sacct(text + "]}", "t", {.strict = true, .columns = {}}).value();
  CHECK(trace.jobs.size() == 3000);
  CHECK(trace.jobs.back().id == "3000");
}

}  // namespace schedmate::trace
