// SPDX-License-Identifier: Apache-2.0
#include "daemon/shared_readings.hpp"

#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace schedmate::daemon {
namespace {

/// A reader that answers when it is told to.
struct LateReader {
  std::vector<std::pair<std::string, reader::Take>> asked;
  SharedReadings::Ask ask = [this](const reader::Request& request, reader::Take take) {
    asked.emplace_back(request.dir, std::move(take));
  };
  void answer(std::size_t number) { asked.at(number).second(Document(number)); }
};

/// Who has an answer, and of which reading.
struct Askers {
  SharedReadings readings{2};
  LateReader reader;
  std::map<std::string, std::size_t> told;
  void ask(const std::string& who, const std::string& dir,
           reader::What what = reader::What::facts) {
    readings.ask(reader.ask, {.what = what, .user = "ann", .dir = dir},
                 [this, who](const SharedReadings::Read& read) {
                   CHECK_FALSE(told.contains(who));
                   told[who] = (*read)->get<std::size_t>();
                 });
  }
};

TEST_CASE("who asks while the same is being read shares the next reading, not that one") {
  Askers askers;
  askers.ask("first", "/a");
  askers.ask("second", "/a");
  askers.ask("third", "/a");
  REQUIRE(askers.reader.asked.size() == 1);
  askers.reader.answer(0);
  CHECK(askers.told == std::map<std::string, std::size_t>{{"first", 0}});
  REQUIRE(askers.reader.asked.size() == 2);
  askers.reader.answer(1);
  CHECK(askers.told ==
        std::map<std::string, std::size_t>{{"first", 0}, {"second", 1}, {"third", 1}});
  askers.ask("fourth", "/a");
  CHECK(askers.reader.asked.size() == 3);
}

TEST_CASE("few are out at a time, in the order in which they were asked for") {
  Askers askers;
  int who = 0;
  for (const char* dir : {"/a", "/b", "/c", "/d", "/c"}) askers.ask(std::to_string(++who), dir);
  REQUIRE(askers.reader.asked.size() == 2);
  askers.reader.answer(1);
  askers.reader.answer(0);
  REQUIRE(askers.reader.asked.size() == 4);
  CHECK(askers.reader.asked[2].first == "/c");
  CHECK(askers.reader.asked[3].first == "/d");
  askers.reader.answer(2);
  askers.reader.answer(3);
  CHECK(askers.told.size() == 5);
}

TEST_CASE("failures are read before code, and code before logs") {
  using enum reader::What;
  Askers askers;
  for (const char* const dir : {"/a", "/b"}) askers.ask(dir, dir);
  askers.ask("log", "/log", track);
  askers.ask("code", "/code", facts);
  askers.ask("failure", "/failure", failure);
  for (std::size_t i = 0; i < 4; ++i) askers.reader.answer(i);
  REQUIRE(askers.reader.asked.size() == 5);
  CHECK(askers.reader.asked[2].first == "/failure");
  CHECK(askers.reader.asked[3].first == "/code");
  CHECK(askers.reader.asked[4].first == "/log");
}

TEST_CASE("an answer that comes at once is one as well") {
  SharedReadings readings;
  int errors = 0;
  const SharedReadings::Ask busy = [](const reader::Request& /*request*/,
                                      const reader::Take& take) {
    take(fail(ErrorCode::unavailable, "busy"));
  };
  for (int i = 0; i < 3; ++i)
    readings.ask(busy, {.user = "ann"},
                 [&](const SharedReadings::Read& read) { errors += read->has_value() ? 0 : 1; });
  CHECK(errors == 3);
}

}  // namespace
}  // namespace schedmate::daemon
