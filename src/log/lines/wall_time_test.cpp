// SPDX-License-Identifier: Apache-2.0
#include "log/lines/wall_time.hpp"

#include <doctest/doctest.h>

#include <string>

#include "tests/support/log_text.hpp"

namespace schedmate::lines {
namespace {

using testing::noon_of_2021_03_04;

WallTime time_of(std::string_view text) {
  const auto found = read_wall_time(text);
  REQUIRE_MESSAGE(found, text);
  return found->time;
}

InWindow placed(const JobWindow& window, std::string_view text) {
  return window.place(time_of(text));
}

}  // namespace

TEST_CASE("times have the zone and the year that are printed") {
  CHECK(time_of("2021-03-04T12:00:00+0100 n1").seconds == noon_of_2021_03_04);
  CHECK(time_of("2021-03-04T12:00:00+0100 n1").offset_s == 3600);
  CHECK(time_of("2021-03-04T12:00:00-05:30 n1").offset_s == -19800);
  CHECK(time_of("2021-03-04T12:00:00Z").offset_s == 0);
  CHECK_FALSE(time_of("2021-03-04 12:00:00").offset_s);
  CHECK(time_of("2021-03-04T12:00:00,123456+01:00 x").offset_s == 3600);
  const auto found = read_wall_time("Thu Mar  4 12:00:00 2021] NVRM");
  REQUIRE(found);
  CHECK(found->time.seconds == noon_of_2021_03_04);
  CHECK(found->length == 24);
  CHECK_FALSE(time_of("Mar  4 12:00:00 n1 kernel: x").has_year);
  for (const char* text : {"", "12:00:00 x", "[  1.000000] x", "Node failure", "2021-03-04"})
    CHECK_MESSAGE(!read_wall_time(text), text);
}

TEST_CASE("a job's time is a date or seconds since 1970") {
  CHECK(read_job_time("1614859200")->seconds == noon_of_2021_03_04);
  CHECK(read_job_time("1614859200")->offset_s == 0);
  CHECK(read_job_time("2021-03-04T12:00:00")->seconds == noon_of_2021_03_04);
  for (const char* text : {"", "Unknown", "None", "0", "-1", "nan", "inf", "1e300"})
    CHECK_MESSAGE(!read_job_time(text), text);
}

TEST_CASE("what happened from a minute before the start to five minutes behind the end counts") {
  const JobWindow window{read_job_time("2021-03-04T12:00:00"),
                         read_job_time("2021-03-04T13:00:00")};
  CHECK(placed(window, "2021-03-04T11:59:00") == InWindow::inside);
  CHECK(placed(window, "2021-03-04T11:58:59") == InWindow::outside);
  CHECK(placed(window, "2021-03-04T13:05:00") == InWindow::inside);
  CHECK(placed(window, "2021-03-04T13:05:01") == InWindow::outside);
  CHECK(window.place(std::nullopt) == InWindow::unknown);
  CHECK(JobWindow().place(std::nullopt) == InWindow::inside);
}

TEST_CASE("zones are compared where both are known, else the clocks as printed") {
  const JobWindow in_utc{read_job_time("1614859200"), read_job_time("1614859260")};
  CHECK(placed(in_utc, "2021-03-04T13:00:30+0100") == InWindow::inside);
  CHECK(placed(in_utc, "2021-03-04T12:00:30+0200") == InWindow::outside);
  CHECK(placed(in_utc, "2021-03-04T12:00:30") == InWindow::inside);
}

TEST_CASE("a date without a year is of a year of the job") {
  const JobWindow window{read_job_time("2023-12-31T23:00:00"),
                         read_job_time("2024-01-01T01:00:00")};
  CHECK(placed(window, "Dec 31 23:30:00 n1") == InWindow::inside);
  CHECK(placed(window, "Jan  1 00:30:00 n1") == InWindow::inside);
  CHECK(placed(window, "Jun  1 00:30:00 n1") == InWindow::outside);
  CHECK(placed(window, "Feb 29 00:30:00 n1") == InWindow::outside);
  const JobWindow open{read_job_time("2024-02-29T00:00:00"), std::nullopt};
  CHECK(placed(open, "Feb 29 00:30:00 n1") == InWindow::inside);
}

}  // namespace schedmate::lines
