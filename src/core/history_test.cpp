// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <schedmate/estimator.hpp>

namespace schedmate {
namespace {

Job finished(std::uint32_t user, std::int32_t gpus, std::int64_t duration_s) {
  Job job;
  job.user = user;
  job.gpus = gpus;
  job.duration = Seconds(duration_s);
  return job;
}

TEST_CASE("an empty history knows nothing") {
  const History history;
  CHECK(history.of(0, 1).empty());
  CHECK(history.of_user(0).count == 0);
  CHECK(history.of_all().count == 0);
}

TEST_CASE("run times are kept per user and GPU count, oldest first") {
  History history;
  history.add(finished(1, 8, 100), {});
  history.add(finished(1, 8, 300), {});
  history.add(finished(1, 4, 50), {});
  history.add(finished(2, 8, 1000), {});
  const auto past = history.of(1, 8);
  CHECK(std::ranges::equal(past, std::vector{Seconds(100), Seconds(300)}));
  CHECK(history.of(2, 4).empty());
  // (100 + 300 + 50) / 3 and (450 + 1000) / 4
  CHECK(history.of_user(1).value().count() == 150);
  CHECK(history.of_all().value().count() == 362.5);
}

TEST_CASE("who finished and when is kept in order") {
  History history;
  history.add(finished(1, 8, 100), {4, SimTime(Seconds(100))});
  history.add(finished(1, 8, 300), {2, SimTime(Seconds(300))});
  REQUIRE(history.finished().size() == 2);
  CHECK(history.finished()[1].row == 2);
  CHECK(history.finished()[1].end == SimTime(Seconds(300)));
}

TEST_CASE("users and GPU counts do not run into each other") {
  History history;
  history.add(finished(0, 1, 10), {});
  history.add(finished(1, 0x7fffffff, 20), {});
  CHECK(history.of(1, 1).empty());
  CHECK(history.of(0, 0x7fffffff).empty());
}

}  // namespace
}  // namespace schedmate
