// SPDX-License-Identifier: Apache-2.0
#include "study/perturb.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <schedmate/trace.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::study {
namespace {

Trace venus() {
  return read_trace("helios:" SCHEDMATE_SOURCE_DIR "/data/venus/venus_sept2020_days0-12.csv.gz", {})
      .value();
}

}  // namespace

TEST_CASE("each submission is up to two seconds later, the same for the same seed") {
  const Trace trace = venus();
  std::map<std::string_view, std::size_t> row_of;
  for (std::size_t row = 0; row < trace.jobs.size(); ++row) row_of[trace.jobs[row].id] = row;
  const auto later = [](std::uint64_t seed) {
    Trace delayed = venus();
    delay_submissions(delayed, seed);
    return delayed;
  };
  const auto ids = [](const Trace& of) {
    std::vector<std::string> each;
    for (const Job& job : of.jobs) each.emplace_back(job.id);
    return each;
  };
  const Trace first = later(1);
  CHECK(ids(first) == ids(later(1)));
  CHECK(ids(first) != ids(later(2)));
  CHECK(ids(first) != ids(trace));
  CHECK(std::ranges::is_sorted(first.jobs, {}, &Job::submit));
  std::array<int, 3> delays{};
  for (std::size_t i = 0; i < first.jobs.size(); ++i) {
    const Job& after = first.jobs[i];
    const std::size_t row = row_of.at(after.id);
    const Job& before = trace.jobs[row];
    REQUIRE(before.duration == after.duration);
    for (const auto& [name, values] : trace.columns)
      REQUIRE(values[row] == first.columns.at(name)[i]);
    const auto delay_s = (after.submit - before.submit).count();
    REQUIRE(delay_s >= 0);
    REQUIRE(delay_s <= 2);
    ++delays[static_cast<std::size_t>(delay_s)];
  }
  for (const int count : delays) CHECK(count > std::ssize(trace.jobs) / 4);
}

}  // namespace schedmate::study
