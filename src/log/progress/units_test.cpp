// SPDX-License-Identifier: Apache-2.0
#include "log/progress/units.hpp"

#include <doctest/doctest.h>

#include "tests/support/near.hpp"

namespace schedmate::progress {
namespace {

using testing::near;

std::optional<double> rate(std::string_view text) {
  return seconds_of_rate(lines::numbers_of(text).at(0));
}

std::optional<double> seconds(std::string_view text, std::string_view key = "") {
  return seconds_of(lines::numbers_of(text).at(0), key);
}

}  // namespace

TEST_CASE("a rate of steps is turned over, seconds of a step are kept") {
  CHECK(rate("4it/s") == 0.25);
  CHECK(rate("41.36s/it") == 41.36);
  CHECK(near(rate("550ms/step"), 0.55, 1e-12, 0));
  CHECK(rate("2 steps/sec") == 0.5);
  CHECK(rate("30batch/min") == 2);
}

TEST_CASE("rates of anything but steps are none") {
  for (const std::string_view text :
       {"76 samples/s", "123KB/s", "12us/sample", "0it/s", "3 s", "7"})
    CHECK_MESSAGE(!rate(text), text);
}

TEST_CASE("seconds follow from the unit, the clock or the key, in this order") {
  CHECK(seconds("250ms") == 0.25);
  CHECK(seconds("2 min") == 120);
  CHECK(seconds("0:01:40") == 100);
  CHECK(near(seconds("1234.5", "elapsed time per iteration (ms)"), 1.2345, 1e-12, 0));
  CHECK(seconds("0.5", "updt s") == 0.5);
  CHECK(near(seconds("12", "ms per iteration"), 0.012, 1e-12, 0));
  CHECK(!seconds("12", "loss"));
  CHECK(!seconds("12", "s"));
  CHECK(!seconds("12GB", "time"));
}

}  // namespace schedmate::progress
