// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <schedmate/progress.hpp>

#include "tests/support/near.hpp"

namespace schedmate::progress {
namespace {

using testing::near;

/// Reports every 10 steps, a step taking `before` seconds until the instant 100 and `after` then.
std::vector<Report> reports(double before, double after) {
  std::vector<Report> all;
  double at = 0;
  for (int i = 0; i < 40; ++i) {
    all.push_back({at, i * 10.0});
    at += 10 * (at < 100 ? before : after);
  }
  return all;
}

}  // namespace

TEST_CASE("the speed before and after an instant is reported with its steps and spread") {
  const auto change = speed_change(reports(1, 2), 100);
  REQUIRE(change.before);
  REQUIRE(change.after);
  CHECK(near(change.before->steps_per_s, 1, 1e-12, 0));
  CHECK(change.before->steps == 90);
  CHECK(near(change.after->steps_per_s, 0.5, 1e-12, 0));
  CHECK(change.after->steps == 290);
  CHECK(near(change.after->spread, 0, 0, 1e-12));
  CHECK(near(change.slowdown, 0.5, 1e-12, 0));
}

TEST_CASE("with too few reports on one side the slowdown is unknown") {
  const auto all = reports(1, 1);
  CHECK(!speed_change(all, 15).slowdown);
  CHECK(speed_change(all, 15).after.has_value());
  CHECK(!speed_change(all, 1e9).slowdown);
  CHECK(!speed_change({}, 5).before);
}

TEST_CASE("reports that stand still or go back are no speed") {
  const std::vector<Report> odd = {{0, 10}, {0, 20}, {5, 20}, {6, 5}, {7, 6}};
  CHECK(!speed_change(odd, 100).before);
}

TEST_CASE("a job hangs when it is silent for many times its usual interval") {
  const auto all = reports(1, 1);  // every 10 s, the last at 390
  CHECK(hangs(all, 395) == false);
  CHECK(hangs(all, 489) == false);
  CHECK(hangs(all, 491) == true);
  CHECK(hangs(all, 430, 3) == true);
  CHECK(!hangs(std::span(all).first(3), 1e6).has_value());
  CHECK(!hangs({}, 1e6).has_value());
}

}  // namespace schedmate::progress
