// SPDX-License-Identifier: Apache-2.0
#include "daemon/kept_lives.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/input.hpp"
#include "base/output.hpp"
#include "tests/support/need.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::daemon {
namespace {

/// Of job `id`, with so many points; it was started again once.
live::Life life_of_run(int points) {
  live::Life life{.submitted = at(1000), .restarts = 1, .fastest_step_s = 0.5};
  for (int i = 1; i <= points; ++i)
    life.points.push_back(
        {at(2000 + 30 * i), 10.0 * i, i % 2 == 0 ? std::optional(1.25) : std::nullopt});
  life.log = live::LogFound{.step = 10.0 * points,
                            .total_steps = 9000,
                            .loss = 1.25,
                            .step_time_s = 0.75,
                            .remaining_s = 80,
                            .recent_step_s = 1,
                            .file = 77,
                            .bytes = 4096};
  life.looked = at(2000 + 30 * points);
  return life;
}

/// A state folder, and what was reported of it.
struct Folder {
  testing::Scratch here;
  std::vector<std::string> reports{};
  MeasuredLives kept() {
    return kept_lives(here.path(), [this](const std::string& line) { reports.push_back(line); });
  }
  [[nodiscard]] std::string file() const { return here.path("lives.jsonl"); }
};

TEST_CASE("how far a job was and how fast is known after a restart") {
  Folder folder;
  CHECK(folder.kept().empty());
  live::Lives lives;
  lives.recall("1", life_of_run(20));
  live::Life only_code{.submitted = at(5), .code = live::CodeFound{.source = "similar"}};
  lives.recall("2", only_code);  // the history has that
  testing::need(keep_lives(measured_lives(lives), folder.here.path()));
  const MeasuredLives kept = folder.kept();
  CHECK(folder.reports.empty());
  REQUIRE(kept.size() == 1);
  const live::Life& life = kept.at("1");
  CHECK(life.submitted == at(1000));
  CHECK(life.restarts == 1);
  CHECK(life.fastest_step_s == 0.5);
  CHECK(life.looked == at(2600));
  REQUIRE(life.log);
  CHECK(life.log->step == 200);
  CHECK(life.log->total_steps == 9000);
  CHECK(life.log->step_s_now() == 1);
  CHECK(life.log->file == 77);
  CHECK(life.log->bytes == 4096);
  CHECK(life.health() == live::Health::slow);  // 1 s a step now, 0.5 s once
  REQUIRE(life.points.size() == 20);
  CHECK(life.points[1].when == at(2060));
  CHECK(life.points[1].step == 20);
  CHECK(life.points[1].loss == 1.25);
  CHECK(!life.points[0].loss);
}

TEST_CASE("of many points the last ones are kept, and few of those before") {
  live::Lives lives;
  lives.recall("1", life_of_run(240));
  const auto points = measured_lives(lives).at("1").points;
  CHECK(points.size() == 64);
  CHECK(points.front().step == 10);
  CHECK(points.back().step == 2400);
  CHECK(points[points.size() - 48].step == 10 * (240 - 47));
  CHECK(std::ranges::is_sorted(points, {}, &live::Life::Point::step));
  Folder folder;
  testing::need(keep_lives(measured_lives(lives), folder.here.path()));
  CHECK(folder.kept().at("1").points.size() == 64);
}

TEST_CASE("a line that is damaged is left out and reported; the others hold") {
  Folder folder;
  live::Lives lives;
  for (const char* const id : {"1", "2", "3"}) lives.recall(id, life_of_run(3));
  testing::need(keep_lives(measured_lives(lives), folder.here.path()));
  const std::string whole = testing::need(read_file(folder.file()));
  testing::need(write_file(folder.file(), whole.substr(0, whole.size() - 20)));  // cut
  CHECK(folder.kept().size() == 2);
  REQUIRE(folder.reports.size() == 1);
  CHECK(folder.reports[0].contains("1 lines"));
  const std::string head = whole.substr(0, whole.find('\n') + 1);
  const std::string begin = R"({"id":"1","submitted_s":5,"restarts":0,"points":)";
  for (const std::string& line : std::vector<std::string>{
           "7", "{}", "\xff\xfe", begin, begin + "7}", begin + "[7]}", begin + "[[1,2]]}",
           begin + "[[1,\"x\",null]]}", begin + "[[1,2,null],[2,2,null]]}",
           begin + "[[2,1,null],[1,2,null]]}", begin + "[[9000000000000000000,1,null]]}",
           R"({"id":7,"submitted_s":5,"restarts":0,"points":[]})",
           R"({"id":"1","submitted_s":1e300,"restarts":0,"points":[]})",
           R"({"id":"1","submitted_s":5,"restarts":"x","points":[]})"}) {
    CAPTURE(line);
    folder.reports.clear();
    testing::need(write_file(folder.file(), head + line + "\n"));
    CHECK(folder.kept().empty());
    CHECK(folder.reports.size() == 1);
  }
}

TEST_CASE("a file of somebody else, or none that can be read, is reported and holds nothing") {
  Folder folder;
  const std::string line = R"({"id":"1","submitted_s":5,"restarts":0,"points":[]})";
  for (const std::string& text : std::vector<std::string>{"", "[]", line + "\n",
                                                          R"({"schema":"schedmate.lives.v2"})"
                                                          "\n" +
                                                              line + "\n",
                                                          std::string("\x1f\x8b\x08\0\0", 5)}) {
    CAPTURE(text);
    folder.reports.clear();
    testing::need(write_file(folder.file(), text));
    CHECK(folder.kept().empty());
    CHECK(folder.reports.size() == 1);
  }
}

}  // namespace
}  // namespace schedmate::daemon
