// SPDX-License-Identifier: Apache-2.0
#include "base/threads.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace schedmate {
namespace {

TEST_CASE("each part of the work is done once, on however many threads") {
  for (const std::int64_t threads : {0, 1, 2, 7}) {
    std::vector<std::atomic<int>> done(7);
    run_on_threads(threads, [&](std::int64_t number) { ++done[static_cast<std::size_t>(number)]; });
    std::int64_t all = 0;
    for (const auto& each : done) {
      CHECK(each <= 1);
      all += each;
    }
    CHECK(all == std::max<std::int64_t>(threads, 1));
  }
}

TEST_CASE("what a helper throws is thrown to the caller, when all have ended") {
  std::atomic<int> ended = 0;
  std::string what;
  try {
    run_on_threads(3, [&](std::int64_t number) {
      ++ended;
      if (number == 2) throw std::runtime_error("the third");
    });
  } catch (const std::runtime_error& error) {
    what = error.what();
  }
  CHECK(what == "the third");
  CHECK(ended == 3);
}

}  // namespace
}  // namespace schedmate
