// SPDX-License-Identifier: Apache-2.0
#include "base/random.hpp"

#include <doctest/doctest.h>

#include <array>

namespace schedmate {
namespace {

TEST_CASE("the generator is SplitMix64: its published first values for seed 0") {
  Random random(0);
  CHECK(random.next() == 0xe220a8397b1dcdafULL);
  CHECK(random.next() == 0x6e789e6aa1b965f4ULL);
  CHECK(random.next() == 0x06c45d188009454fULL);
}

TEST_CASE("equal seeds give equal numbers, other seeds others") {
  Random one(42);
  Random same(42);
  Random other(43);
  CHECK(one.next() == same.next());
  CHECK(one.next() != other.next());
}

TEST_CASE("numbers stay in their range and reach both ends") {
  Random random(1);
  std::array<int, 4> seen{};
  for (int i = 0; i < 4000; ++i) {
    const std::int64_t value = random.between(3, 6);
    REQUIRE(value >= 3);
    REQUIRE(value <= 6);
    ++seen[static_cast<std::size_t>(value - 3)];
    const double share = random.uniform();
    REQUIRE(share >= 0);
    REQUIRE(share < 1);
  }
  // 1000 expected each, standard deviation 27.
  for (const int count : seen) CHECK(std::abs(count - 1000) < 150);
  CHECK(random.below(1) == 0);
}

TEST_CASE("normal numbers have mean 0 and deviation 1") {
  Random random(2);
  double sum = 0;
  double squares = 0;
  constexpr int count = 20'000;
  for (int i = 0; i < count; ++i) {
    const double value = random.normal();
    sum += value;
    squares += value * value;
  }
  // Standard errors: 0.007 of the mean, 0.01 of the variance.
  CHECK(std::abs(sum / count) < 0.035);
  CHECK(std::abs(squares / count - 1) < 0.05);
}

}  // namespace
}  // namespace schedmate
