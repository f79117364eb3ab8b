// SPDX-License-Identifier: Apache-2.0
#include "study/perturb.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <schedmate/trace.hpp>

namespace schedmate::study {
namespace {

Trace venus() {
  return read_trace("helios:" SCHEDMATE_SOURCE_DIR "/data/venus/venus_sept2020_days0-12.csv.gz", {})
      .value();
}

}  // namespace

TEST_CASE("perturb: each submission up to two seconds later, the same for the same seed") {
  const Trace trace = venus();
  const Perturbed first = perturb(trace, 1);
  const Perturbed again = perturb(trace, 1);
  CHECK(first.rows == again.rows);
  CHECK(first.rows != perturb(trace, 2).rows);
  CHECK(std::ranges::is_sorted(first.trace.jobs, {}, &Job::submit));
  bool moved = false;
  std::array<int, 3> delays{};
  for (std::size_t i = 0; i < first.rows.size(); ++i) {
    const Job& before = trace.jobs[first.rows[i]];
    const Job& after = first.trace.jobs[i];
    REQUIRE(before.id == after.id);
    REQUIRE(before.duration == after.duration);
    const auto delay_s = (after.submit - before.submit).count();
    REQUIRE(delay_s >= 0);
    REQUIRE(delay_s <= 2);
    ++delays[static_cast<std::size_t>(delay_s)];
    moved = moved || first.rows[i] != i;
  }
  CHECK(moved);
  for (const int count : delays) CHECK(count > std::ssize(trace.jobs) / 4);
}

TEST_CASE("permuted: every job keeps its template, profile, facts and place") {
  const Trace trace = venus();
  const std::string data = SCHEDMATE_SOURCE_DIR "/data/";
  const Recipe recipe = read_recipe(data + "recipes/light.toml").value();
  const auto interference = read_interference(data + "interference.toml").value();
  const auto errors = read_extraction_errors(data + "extraction_errors.toml").value();
  WorkloadOptions options;
  options.shuffle = MetadataShuffle::metadata;
  const Workload made = make_workload(trace, {recipe, interference, errors}, options).value();
  const Perturbed perturbed = perturb(trace, 3);
  const Workload along = permuted(made, perturbed.rows);
  for (std::size_t i = 0; i < perturbed.rows.size(); ++i) {
    const std::uint32_t row = perturbed.rows[i];
    REQUIRE(along.template_of_row[i] == made.template_of_row[row]);
    REQUIRE(along.profile_of_row[i] == made.profile_of_row[row]);
    REQUIRE(along.facts_of_row[i] == made.facts_of_row[row]);
    REQUIRE(along.place_of_row[i] == made.place_of_row[row]);
  }
  CHECK(along.fingerprint == made.fingerprint);
}

}  // namespace schedmate::study
