// SPDX-License-Identifier: Apache-2.0
#include "advisor/run_answer.hpp"

#include <doctest/doctest.h>

namespace schedmate::advisor {

TEST_CASE("run answer: a limit is one that a person writes, and is said with its risk") {
  const Seconds limit = written_limit(FractionalSeconds(11'500));
  CHECK(limit == Seconds(11'700));
  CHECK(limit_in_words({.suggested = limit, .risk = 0.05}) ==
        "--time=3:15:00 (risk to be killed by it: at most 5 %)");
  CHECK(limit_in_words({.suggested = Seconds(108'000), .risk = 0.123, .longest = true}) ==
        "--time=1-06:00:00 (the longest allowed; risk to be killed by it: 12 %)");
}

}  // namespace schedmate::advisor
