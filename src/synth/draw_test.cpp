// SPDX-License-Identifier: Apache-2.0
#include "synth/draw.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "synth/balance.hpp"
#include "synth/check.hpp"
#include "tests/support/synth_tables.hpp"

namespace schedmate::synth {

TEST_CASE("the jobs up to any point of a type's duration CDF are those asked for, to one job") {
  const Published published = bundled_figures("acme-kalos");
  const Joint joint = fit_joint(published);
  constexpr std::int64_t count = 6000;
  const SynthJobs jobs = draw_jobs(joint, count, Random(5));
  REQUIRE(std::ssize(jobs) == count);
  std::size_t type = 0;
  double asked = 0;
  for (std::size_t slot = 0; slot < joint.slots[type].size(); ++slot) {
    for (std::size_t i = 0; i < joint.cells.size(); ++i) {
      const JointCell& cell = joint.cells[i];
      if (cell.type == type && cell.slot == slot) asked += joint.weights[i] * count;
    }
    const double high = joint.slots[type][slot].high;
    const auto drawn = std::ranges::count_if(jobs, [&](const SynthJob& job) {
      return job.type == type && static_cast<double>(job.run_s) <= high;
    });
    CHECK(std::abs(static_cast<double>(drawn) - asked) < 1 + 1e-6);
  }
}

TEST_CASE("run times lie in their slot and are whole seconds of at least 1") {
  Random random(3);
  for (int i = 0; i < 1000; ++i) {
    const auto run_s = run_within(64, 128, random);
    CHECK(run_s > 64);
    CHECK(run_s <= 128);
  }
  CHECK(run_within(0, 1, random) == 1);
  CHECK(run_within(0, 0.5, random) == 1);
}

TEST_CASE("balance fixes the shares of GPU time and leaves types and duration CDFs alone") {
  const Published published = bundled_figures("acme-seren");
  const ClusterFigures& cluster = published.cluster;
  SynthJobs jobs = draw_jobs(fit_joint(published), 40'000, Random(7));
  const auto durations = [&] {
    std::vector<double> drawn;
    for (const CheckRow& row : duration_rows(cluster, jobs)) drawn.push_back(row.drawn);
    return drawn;
  };
  const auto worst = [&] {
    return std::ranges::max(moment_rows(cluster, Tally(cluster, jobs)), {}, &CheckRow::off).off;
  };
  const auto before = durations();
  const double first = worst();
  balance(cluster, jobs, Random(8));
  CHECK(first > 0.2);  // chance alone
  CHECK(worst() <= most_off);
  CHECK(durations() == before);
  CHECK(std::ranges::all_of(jobs, [](const SynthJob& job) { return job.run_s >= 1; }));
}

TEST_CASE("no job at all is balanced and drawn as well") {
  const Published published = bundled_figures("acme-kalos");
  SynthJobs none;
  balance(published.cluster, none, Random(1));
  CHECK(draw_jobs(fit_joint(published), 1, Random(1)).size() == 1);
}

}  // namespace schedmate::synth
