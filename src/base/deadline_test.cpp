// SPDX-License-Identifier: Apache-2.0
#include "base/deadline.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace schedmate {

TEST_CASE("a deadline passes, and a wait for what never comes ends with it") {
  using std::chrono::milliseconds;
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const Descriptor from(ends[0]);
  Descriptor to(ends[1]);
  const Deadline soon(milliseconds(20));
  CHECK_FALSE(soon.wait_readable(from.number()));
  CHECK(soon.passed());
  CHECK(Deadline(milliseconds(0)).wait_readable(from.number()) == false);

  const Deadline late(std::chrono::hours(1));
  REQUIRE(::write(to.number(), "x", 1) == 1);
  CHECK(late.wait_readable(from.number()));
  CHECK(soon.wait_readable(from.number()));  // what is there is read, however late
  char got = 0;
  REQUIRE(::read(from.number(), &got, 1) == 1);
  to.close();
  CHECK(late.wait_readable(from.number()));
  CHECK_FALSE(late.passed());
}

}  // namespace schedmate
