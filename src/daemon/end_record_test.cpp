// SPDX-License-Identifier: Apache-2.0
#include "daemon/end_record.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "tests/support/ended_jobs.hpp"

namespace schedmate::daemon {
namespace {

/// With all that a daemon learns of a job.
EndRecord whole_end() {
  Ended end = testing::ended_job("7 \xff\n", Seconds(300), 5000);
  end.job.dir = "/r";
  end.job.command = "python train.py --api-key sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD";
  end.job.output = "/r/7.log";
  end.job.limit = Seconds(3600);
  end.job.end_state = EndState::failed;
  end.job.nodes = {{"n1", {0, 1}}, {"n2", {}}};
  end.earlier = {{0, at(5010), at(5020), EndState::node_fail, {{"n3", {}}}},
                 {1, std::nullopt, std::nullopt, EndState::requeued, {}}};
  live::Life life;
  life.points = {{at(5100), 10, 2.5}, {at(5200), 20, std::nullopt}};
  life.log = live::LogFound{.step = 20, .step_time_s = 0.1};
  life.cause =
      live::CauseFound{.verdict = FailureClass::user_script, .reason = "x", .fingerprint = "f7"};
  end.life = life;
  probe::UseSummary use;
  use.gpu_pct_mean = 87.5;
  end.use = use;
  end.is_old = true;
  return testing::need(Historian::end_record(end));
}

TEST_CASE("an end is the same after it was text, and holds no secret") {
  const EndRecord whole = whole_end();
  const std::string text = end_text(whole);
  CHECK(text.find("abcdefgh") == std::string::npos);
  const EndRecord read = testing::need(read_end(text));
  CHECK(read.record == whole.record);
  CHECK(read.is_old);
  CHECK(read.record.outcome->progress.size() == 2);
  CHECK(read.record.outcome->attempts.size() == 3);
  CHECK(read.record.time_limit == Seconds(3600));
  Ended little;
  little.job.id = "8";
  const EndRecord bare = testing::need(Historian::end_record(little));
  CHECK(testing::need(read_end(end_text(bare))).record == bare.record);
  CHECK_FALSE(testing::need(read_end(end_text(bare))).is_old);
}

TEST_CASE("text that is no end of a job is an error") {
  const std::string text = end_text(whole_end());
  for (std::size_t length = 0; length < text.size(); ++length)
    CHECK_FALSE(read_end(text.substr(0, length)));
  for (const char* const other : {"null", "7", "[]", "{}", R"({"id":7})"})
    CHECK(read_end(other).error().code == ErrorCode::invalid);
  for (const auto& [part, instead] : {std::pair("\"id\"", "\"x\""), std::pair("5000", "\"x\""),
                                      std::pair("\"is_old\"", "\"x\""), std::pair("[[", "[x")}) {
    std::string wrong = text;
    REQUIRE(wrong.contains(part));
    wrong.replace(wrong.find(part), std::string(part).size(), instead);
    CHECK_FALSE(read_end(wrong));
  }
}

}  // namespace
}  // namespace schedmate::daemon
