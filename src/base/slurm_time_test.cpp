// SPDX-License-Identifier: Apache-2.0
#include "base/slurm_time.hpp"

#include <doctest/doctest.h>

#include <string>

namespace schedmate {
namespace {

TEST_CASE("a time of Slurm: the forms of its manual") {
  struct Case {
    std::string_view text;
    std::int64_t seconds;
  };
  for (const auto& [text, seconds] :
       {Case{"90", 5400}, Case{"90:30", 5430}, Case{"2:00:00", 7200}, Case{"02:00:00", 7200},
        Case{"1-12", 129'600}, Case{"1-12:30", 131'400}, Case{"1-12:30:05", 131'405},
        Case{"0-0:0:1", 1}, Case{"1:90:00", 9000}, Case{"1000000000", 60'000'000'000}}) {
    CAPTURE(text);
    const auto time = parse_slurm_time(text);
    REQUIRE(time);
    CHECK(time->limit == Seconds(seconds));
  }
  for (const auto* const text : {"UNLIMITED", "unlimited", "INFINITE", "-1", "0", "00:00:00"}) {
    CAPTURE(text);
    const auto time = parse_slurm_time(text);
    REQUIRE(time);
    CHECK_FALSE(time->limit);
  }
}

TEST_CASE("a time of Slurm: what is none") {
  for (const auto* const text : {"",
                                 " ",
                                 "-",
                                 ":",
                                 "1-",
                                 "-2",
                                 "1:",
                                 ":30",
                                 "1::2",
                                 "1:2:3:4",
                                 "1-2:3:4:5",
                                 "1-2-3",
                                 "+5",
                                 "1.5",
                                 "2h",
                                 "0x10",
                                 "two",
                                 "1000000001",
                                 "99999999999999999999",
                                 "1 0",
                                 "1:-2"})
    CHECK_FALSE_MESSAGE(parse_slurm_time(text), std::string(text));
}

TEST_CASE("a duration of a flag: a plain number is seconds") {
  struct Case {
    std::string_view text;
    std::int64_t seconds;
  };
  for (const auto& [text, seconds] :
       {Case{"5400", 5400}, Case{"0", 0}, Case{"12.75", 12}, Case{"45s", 45}, Case{"90m", 5400},
        Case{"2h", 7200}, Case{"7d", 604'800}, Case{"2:00:00", 7200}, Case{"90:00", 5400},
        Case{"1-12", 129'600}, Case{"315360000", 315'360'000}})
    CHECK_MESSAGE(parse_duration(text) == Seconds(seconds), std::string(text));
  for (const auto* const text :
       {"", "s", "-5", "nan", "inf", "1e400", "9e18", "1.5h", "2 h", "2w", "5400x", "0x10", "1.",
        ".5", "315360001", "3651d", "UNLIMITED", "1-12:xx"})
    CHECK_FALSE_MESSAGE(parse_duration(text), std::string(text));
}

}  // namespace
}  // namespace schedmate
