// SPDX-License-Identifier: Apache-2.0
#include "study/kept_runs.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <set>

#include "base/input.hpp"
#include "base/output.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::study {
namespace {

TEST_CASE("shards by name, and what is none") {
  const Shard second = parse_shard("2/8").value();
  CHECK(second.index == 1);
  CHECK(second.of == 8);
  CHECK(parse_shard("1/1").value().of == 1);
  for (const char* wrong :
       {"", "/", "1", "0/2", "3/2", "1/", "/2", "1/0", "a/2", "1/2/3", "-1/2", "1/10001", " 1/2"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_shard(wrong));
  }
}

TEST_CASE("each run is of one shard, and shards differ by one run at most") {
  const RunCounts counts{2, 3, 7};
  for (std::size_t of = 1; of <= 50; ++of) {
    CAPTURE(of);
    std::vector<std::size_t> owners(42);
    for (std::size_t index = 0; index < of; ++index) {
      const KeptRuns runs("none", {index, of}, counts);
      std::size_t own = 0;
      for (std::size_t n = 0; n < runs.count(); ++n) {
        const bool mine = runs.is_own({n / 21, n / 7 % 3, n % 7});
        own += mine ? 1 : 0;
        owners[n] += mine ? 1 : 0;
      }
      CHECK(own == runs.own_count());
    }
    CHECK(std::set(owners.begin(), owners.end()) == std::set<std::size_t>{1});
  }
}

using Errors = std::vector<EstimateErrors>;
const RunName run{1, 2, 3};

Result<std::optional<Errors>> take(const KeptRuns& runs, const Errors& value, int& made) {
  return kept_or_made<Errors>(runs, run, [&]() -> Result<Errors> {
    ++made;
    return value;
  });
}

TEST_CASE("a kept run comes back bit by bit, and is made anew where its file is not whole") {
  const testing::Scratch here;
  const KeptRuns runs(here.path("runs"), {}, {2, 3, 7});
  const double tiny = std::numeric_limits<double>::denorm_min();
  const Errors value{{3, {0.1, 1.0 / 3, tiny}, {}}, {0, {}, {-0.0, 1e300, std::nan("")}}};
  int made = 0;
  const auto same = [&](const Errors& other) {
    REQUIRE(other.size() == 2);
    CHECK(other[0].jobs == 3);
    CHECK(other[0].run_time == value[0].run_time);
    REQUIRE(other[1].gpu_util.size() == 3);
    CHECK(std::signbit(other[1].gpu_util[0]));
    CHECK(other[1].gpu_util[1] == 1e300);
    CHECK(std::isnan(other[1].gpu_util[2]));
  };
  same(*take(runs, value, made).value());
  same(*take(runs, value, made).value());
  CHECK(made == 1);
  const std::string path = here.path("runs/2-3-4");
  const std::string whole = read_file(path).value();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    REQUIRE(write_file(path, whole.substr(0, length)));
    CHECK_FALSE(runs.find(run));
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    REQUIRE(write_file(path, flipped));
    CHECK_FALSE(runs.find(run));
  }
  same(*take(runs, value, made).value());
  CHECK(made == 2);
  CHECK(read_file(path).value() == whole);
}

TEST_CASE("numbers that do not fit what is read are made anew") {
  const testing::Scratch here;
  const KeptRuns runs(here.path("runs"), {}, {2, 3, 7});
  const Errors value{{3, {0.1}, {}}};
  int made = 0;
  for (const RunNumbers& other : {RunNumbers{}, RunNumbers{1}, RunNumbers{1, 3, 1, 0.1, 0, 9},
                                  RunNumbers{1e18}, RunNumbers{-1}, RunNumbers{std::nan("")}}) {
    REQUIRE(runs.keep(run, other));
    CHECK((*take(runs, value, made).value())[0].run_time == value[0].run_time);
  }
  CHECK(made == 6);
}

TEST_CASE("another shard's run is neither made nor taken") {
  const testing::Scratch here;
  const RunCounts counts{2, 3, 7};
  int made = 0;
  REQUIRE(take(KeptRuns(here.path("runs"), {}, counts), {{}}, made));
  const std::size_t number = (1 * 3 + 2) * 7 + 3;
  for (std::size_t index = 0; index < 4; ++index)
    CHECK(take(KeptRuns(here.path("runs"), {index, 4}, counts), {{}}, made).value().has_value() ==
          (index == number % 4));
  CHECK(made == 1);
}

}  // namespace
}  // namespace schedmate::study
