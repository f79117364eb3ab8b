// SPDX-License-Identifier: Apache-2.0
#include "log/lines/stamp.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/log_text.hpp"
#include "tests/support/near.hpp"

namespace schedmate::lines {
namespace {

using testing::near;
using testing::noon_of_2021_03_04;

}  // namespace

TEST_CASE("dates with a year are read in many shapes, with the place where they end") {
  for (const std::string_view text :
       {"2021-03-04 12:00:00", "2021-03-04T12:00:00Z", "2021/03/04 12:00:00", "2021-3-4 12:00:00",
        "2021-03-04_12:00:00", "2021-03-04:12:00:00", "2021-03-04 12:00:00 +0000"}) {
    const auto found = read_stamp(std::string(text) + " loss 3");
    REQUIRE_MESSAGE(found, text);
    CHECK_MESSAGE(found->stamp.seconds == noon_of_2021_03_04, text);
    CHECK_MESSAGE(found->stamp.dated, text);
  }
  CHECK(read_stamp("2021-03-04 12:00:00,250 x")->length == 23);
  CHECK(read_stamp("2021-03-04T12:00:00.123456+01:00 x")->length == 32);
}

TEST_CASE("the resolution of a stamp is that of its last digit") {
  CHECK(read_stamp("2021-03-04 12:00:00")->stamp.resolution_s == 1);
  CHECK(near(read_stamp("2021-03-04 12:00:00,250")->stamp.resolution_s, 1e-3, 1e-12, 0));
  CHECK(near(read_stamp("2021-03-04 12:00:00,250")->stamp.seconds, noon_of_2021_03_04 + 0.25, 1e-15,
             0));
}

TEST_CASE("dates without a year give differences") {
  const auto seconds = [](std::string_view text) { return read_stamp(text)->stamp.seconds; };
  CHECK(seconds("03-04 12:00:10") - seconds("03-04 12:00:00") == 10);
  CHECK(seconds("05/19 00:00:05") - seconds("05/18 23:59:55") == 10);
  CHECK(seconds("Mar  5 00:00:01 host x") - seconds("Mar  4 23:59:59 host x") == 2);
  CHECK(seconds("Thu Mar  4 12:00:01") - seconds("Thu Mar  4 12:00:00") == 1);
}

TEST_CASE("the whole head of a glog line is its stamp's") {
  const std::string_view line = "W0605 01:19:05.620946 27501 solver.cpp:237] Iteration 8";
  const auto found = read_stamp(line);
  REQUIRE(found);
  CHECK(found->level == 'W');
  CHECK(line.substr(found->length) == " Iteration 8");
}

TEST_CASE("a bare clock counts from midnight, the kernel's seconds from the start") {
  CHECK(read_stamp("12:34:56 x")->stamp.seconds == 45296);
  CHECK(!read_stamp("12:34:56 x")->stamp.dated);
  CHECK(near(read_stamp("[   123.456789] NVRM")->stamp.seconds, 123.456789, 1e-12, 0));
}

TEST_CASE("seconds since 1970 are a stamp before a blank") {
  CHECK(read_stamp("1700000000.125 step 3")->stamp.seconds == 1700000000.125);
  CHECK(near(read_stamp("1700000000.125 step 3")->stamp.resolution_s, 1e-3, 1e-12, 0));
  CHECK(read_stamp("1700000000 step 3")->length == 10);
  CHECK(!read_stamp("17000000001 step 3"));
  CHECK(!read_stamp("1700000000.1.2 step 3"));
  CHECK(!read_stamp("1700000000"));
}

TEST_CASE("what only looks like a stamp is none") {
  for (const std::string_view text :
       {"2021-13-04 12:00:00", "2021-03-04 25:00:00", "12:34:56:78 x", "2021-03-04",
        "99/99 12:00:00", "Epoch 12:00", "Marble 4 12:00:00", "I0605", "1:2:3",
        "2021-03-04 12:61:00", ""})
    CHECK_MESSAGE(!read_stamp(text), text);
}

TEST_CASE("torch writes the month of glog's head without a zero") {
  const auto stamp = read_stamp("W326 02:11:08.251785597 TCPStore.cpp:125] [c10d] recvValue");
  REQUIRE(stamp);
  CHECK(stamp->level == 'W');
  CHECK(near(stamp->stamp.seconds - std::floor(stamp->stamp.seconds / 86400) * 86400,
             2 * 3600 + 11 * 60 + 8.251785597, 0, 1e-6));
}

TEST_CASE("a comma may stand behind the day") {
  const auto stamp = read_stamp("Mar 29, 22:28:41] 512 5.72");
  REQUIRE(stamp);
  CHECK(stamp->length == std::string_view("Mar 29, 22:28:41").size());
}
}  // namespace schedmate::lines
