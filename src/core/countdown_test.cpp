// SPDX-License-Identifier: Apache-2.0
#include "core/countdown.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "base/random.hpp"

namespace schedmate {
namespace {

struct Counted {
  std::int64_t steps;
  double left;
};

/// One subtraction a second, as the released simulator does it.
Counted count_down(double work, double rate) {
  std::int64_t steps = 0;
  for (; work > 0; ++steps) work -= rate;
  return {steps, work};
}

void check_against_loop(double work, double rate) {
  CAPTURE(work);
  CAPTURE(rate);
  const Counted loop = count_down(work, rate);
  REQUIRE(steps_to_zero(work, rate) == loop.steps);
  REQUIRE(std::bit_cast<std::uint64_t>(after_steps(work, rate, loop.steps)) ==
          std::bit_cast<std::uint64_t>(loop.left));
}

TEST_CASE("the closed form equals the loop bit by bit for random work and rates") {
  Random random(11);
  for (int i = 0; i < 3000; ++i) {
    const double work = std::floor(std::exp(random.uniform() * 11));
    check_against_loop(work, 0.3 + 1.3 * random.uniform());
    check_against_loop(work * random.uniform(), std::round(random.uniform() * 900 + 100) / 1000);
  }
}

TEST_CASE("the closed form equals the loop where subtractions end in a tie") {
  // Near 2^52 the unit is 1 and a rate of x.5 lies halfway between two values.
  for (const double rate : {0.5, 1.5, 2.5}) {
    for (double above = 0; above < 9; ++above) {
      double loop = 0x1p52 + above;
      const double start = loop;
      for (std::int64_t steps = 0; steps < 200; ++steps) {
        REQUIRE(after_steps(start, rate, steps) == loop);
        loop -= rate;
      }
    }
  }
}

TEST_CASE("the closed form equals the loop for rates far below and above one") {
  check_against_loop(1, 1e-6);
  check_against_loop(0.1, 1e-7);
  check_against_loop(5, 1e9);
  check_against_loop(1e-300, 1);
  check_against_loop(123'456.789, 0.123);
  check_against_loop(1, 0x1p-20);
}

TEST_CASE("at full speed whole seconds of work take as many seconds and leave nothing") {
  for (const std::int64_t seconds : {1, 2, 63, 64, 65, 3'354'075}) {
    const auto work = static_cast<double>(seconds);
    CHECK(steps_to_zero(work, 1.0) == seconds);
    CHECK(after_steps(work, 1.0, seconds) == 0);
  }
  CHECK(steps_to_zero(2.5, 1) == 3);
  CHECK(after_steps(2.5, 1, 3) == -0.5);
}

TEST_CASE("no work takes no time") {
  CHECK(steps_to_zero(0, 1) == 0);
  CHECK(steps_to_zero(-3, 0.5) == 0);
  CHECK(after_steps(7, 1, 0) == 7);
}

TEST_CASE("a pause at any second does not change the roundings") {
  Random random(5);
  for (int i = 0; i < 2000; ++i) {
    const double work = 1 + 50'000 * random.uniform();
    const double rate = 0.4 + random.uniform();
    const std::int64_t all = steps_to_zero(work, rate);
    const std::int64_t first = random.below(all + 1);
    CHECK(after_steps(after_steps(work, rate, first), rate, all - first) ==
          after_steps(work, rate, all));
  }
}

}  // namespace
}  // namespace schedmate
