// SPDX-License-Identifier: Apache-2.0
#include "synth/streaks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "synth/draw.hpp"
#include "synth/unused.hpp"
#include "tests/support/near.hpp"
#include "tests/support/synth_tables.hpp"

namespace schedmate::synth {

using testing::near;

TEST_CASE("next states keep the measured odds ratios and have the shares asked for") {
  const auto& measured = bundled_figures("saturn").behaviour.next_state;
  const StateShares shares = {0.5, 0.1, 0.4};
  const auto next = next_states(measured, shares);
  for (std::size_t j = 0; j < 3; ++j) {
    double column = 0;
    for (std::size_t i = 0; i < 3; ++i) column += shares[i] * next[i][j];
    CHECK(near(column, shares[j], 1e-6, 0));
    CHECK(near(next[j][0] + next[j][1] + next[j][2], 1, 1e-12, 0));
  }
  const auto odds = [](const std::array<StateShares, 3>& of) {
    return of[0][0] * of[2][2] / (of[0][2] * of[2][0]);
  };
  CHECK(near(odds(next), odds(measured), 1e-6, 0));
}

TEST_CASE("a state that does not occur does no harm") {
  const auto next = next_states(bundled_figures("saturn").behaviour.next_state, {1, 0, 0});
  CHECK(near(next[0][0], 1, 1e-12, 0));
  CHECK(std::isfinite(next[1][1]));
}

TEST_CASE("streaks hold each job once, one shape a burst, with the measured likeness") {
  const Published published = bundled_figures("saturn");
  const SynthJobs jobs = draw_jobs(fit_joint(published), 30'000, Random(2));
  const Streaks streaks = order_streaks(published.behaviour, jobs, Random(3));
  std::set<std::uint32_t> seen(streaks.order.begin(), streaks.order.end());
  CHECK(seen.size() == jobs.size());
  CHECK(streaks.order.size() == jobs.size());
  std::uint32_t next = 0;
  double pairs = 0;
  double within = 0;
  double failed = 0;
  double failed_again = 0;
  for (const Burst& burst : streaks.bursts) {
    REQUIRE(burst.first == next);
    next += burst.count;
    for (std::uint32_t i = burst.first + 1; i < next; ++i) {
      const SynthJob& a = jobs[streaks.order[i - 1]];
      const SynthJob& b = jobs[streaks.order[i]];
      REQUIRE(a.gpus == b.gpus);
      const double ratio = static_cast<double>(a.run_s) / static_cast<double>(b.run_s);
      pairs += 1;
      within += ratio <= 2 && ratio >= 0.5 ? 1 : 0;
      failed += a.state == 2 ? 1 : 0;
      failed_again += a.state == 2 && b.state == 2 ? 1 : 0;
    }
  }
  CHECK(next == jobs.size());
  CHECK(near(within / pairs, 0.64, 0.08, 0));
  CHECK(near(failed_again / failed, 0.64, 0.1, 0));  // Saturn fails like Venus
  CHECK(near(pairs / static_cast<double>(jobs.size()), 0.84, 0.01, 0));
}

TEST_CASE("the nearest unused place is found on both sides") {
  Unused unused(5);
  unused.take(2);
  unused.take(3);
  CHECK(unused.from(2) == 4);
  CHECK(unused.before(4) == 2);  // place 1 is the last before 4
  unused.take(4);
  CHECK(unused.from(2) == 5);
  unused.take(0);
  unused.take(1);
  CHECK(unused.before(5) == 0);
  CHECK(unused.left() == 0);
}

}  // namespace schedmate::synth
