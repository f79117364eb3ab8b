// SPDX-License-Identifier: Apache-2.0
#include "tests/support/near.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <sstream>

namespace schedmate::testing {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

std::string shown(const Nearness& nearness) {
  std::ostringstream out;
  out << nearness;
  return out.str();
}

TEST_CASE("near: within the relative or the absolute tolerance, whichever is more") {
  CHECK(near(105, 100, 0.05, 0));
  CHECK(near(95, 100, 0.05, 0));
  CHECK_FALSE(near(105.1, 100, 0.05, 0));
  CHECK_FALSE(near(94.9, 100, 0.05, 0));
  CHECK(near(107, 100, 0.05, 7));
  CHECK_FALSE(near(107.1, 100, 0.05, 7));
  CHECK_FALSE(near(111, 100, 0.05, 7));  // not their sum
  CHECK(near(-105, -100, 0.05, 0));
  CHECK_FALSE(near(100, -100, 0.05, 0));
}

TEST_CASE("near: what is wanted is the scale, however small") {
  for (const double want : {1e-12, 1e-8, 0.0244, 1.0, 1e9}) {
    CAPTURE(want);
    CHECK(near(want * (1 + 1e-13), want, 1e-12, 0));
    CHECK_FALSE(near(want * (1 + 1e-11), want, 1e-12, 0));
    for (const double wrong : {want / 2, want * 2, 0.0, -want}) {
      CHECK_FALSE(near(wrong, want, 0.25, 0));
      CHECK_FALSE(near(wrong, want, 0, want / 4));
    }
  }
}

TEST_CASE("near: without tolerances only the same value") {
  CHECK(near(0.1, 0.1, 0, 0));
  CHECK_FALSE(near(std::nextafter(0.1, 1), 0.1, 0, 0));
  CHECK_FALSE(near(0.1, 0.1, -1, -1));
  CHECK(near(0, 0, 0, 0));
  CHECK(near(-0.0, 0, 0, 0));
}

TEST_CASE("near: beside zero only the absolute tolerance counts") {
  CHECK(near(1e-13, 0, 0, 1e-12));
  CHECK_FALSE(near(1e-11, 0, 0, 1e-12));
  CHECK_FALSE(near(1e-13, 0, 1e-12, 0));
}

TEST_CASE("near: a tolerance that half of the value would pass lets nothing pass") {
  CHECK(near(1, 1, 0.33, 0));
  CHECK_FALSE(near(1, 1, 0.34, 0));
  CHECK_FALSE(near(0.0244, 0.0244, 0, 0.26));
  CHECK_FALSE(near(1e-8, 1e-8, 0, 1e-5));
  CHECK_FALSE(near(1, 1, infinite, 0));
  CHECK_FALSE(near(1, 1, no_number, 0));
}

TEST_CASE("near: no number is near nothing, and infinity near itself") {
  CHECK_FALSE(near(no_number, 1, 0.1, 0.1));
  CHECK_FALSE(near(1, no_number, 0.1, 0.1));
  CHECK_FALSE(near(no_number, no_number, 0.1, 0.1));
  CHECK(near(infinite, infinite, 0, 0));
  CHECK_FALSE(near(-infinite, infinite, 0.1, 0.1));
  CHECK_FALSE(near(infinite, 1, 0.1, 0.1));
  CHECK_FALSE(near(1, infinite, 0.1, 0.1));
  CHECK_FALSE(near(std::nullopt, 0, 0.1, 0.1));
}

TEST_CASE("near: a failure prints value, what was wanted and what was allowed") {
  CHECK(shown(near(2.5, 2, 0.05, 0)) == "2.5, wanted 2, at most 0.1 off");
  CHECK(shown(near(std::nullopt, 2, 0, 0.5)) == "nothing, wanted 2, at most 0.5 off");
  CHECK(shown(near(2, 2, 0.5, 0)) ==
        "2, wanted 2, at most 1 off (too much: half of the value would be near too)");
}

}  // namespace
}  // namespace schedmate::testing
