// SPDX-License-Identifier: Apache-2.0
#include "synth/submissions.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "synth/draw.hpp"
#include "synth/users.hpp"
#include "tests/support/near.hpp"
#include "tests/support/synth_tables.hpp"

namespace schedmate::synth {

using testing::near;

TEST_CASE("the day curve maps shares of the submissions to times") {
  std::array<double, 24> hourly{};
  hourly[6] = 1;
  hourly[18] = 3;
  constexpr std::int64_t day = 86'400;
  CHECK(day_curve(hourly, day, 0) == 21'600);
  CHECK(day_curve(hourly, day, 0.25) == 64'800);
  CHECK(day_curve(hourly, day, 0.625) == 66'600);
  CHECK(day_curve(hourly, 2 * day, 0.5) == day + 21'600);
  // Until noon of the second day: 4 + 1 of the weights, the last fifth after its 6 o'clock.
  CHECK(day_curve(hourly, day + day / 2, 0.9) == day + 23'400);
}

TEST_CASE("gaps: zeros and coefficient of variation") {
  SynthJobs jobs(4);
  jobs[1].submit_s = 10;
  jobs[2].submit_s = 10;
  jobs[3].submit_s = 20;  // gaps 10, 0, 10: mean 6.67, deviation 4.71
  const Gaps gaps = gaps_of(jobs);
  CHECK(near(gaps.zero_percent, 100.0 / 3, 1e-12, 0));
  CHECK(near(gaps.cv, 0.7071, 1e-3, 0));
  CHECK(gaps_of({}).cv == 0);
}

TEST_CASE("submissions follow the day, come in batches and stay within the span") {
  const Published published = bundled_figures("acme-kalos");
  constexpr std::int64_t span_s = 2'592'000;
  SynthJobs jobs = draw_jobs(fit_joint(published), 6000, Random(2));
  const Streaks streaks = order_streaks(published.behaviour, jobs, Random(3));
  submit_bursts({published, streaks, span_s}, jobs, Random(4));
  CHECK(std::ranges::min(jobs, {}, &SynthJob::submit_s).submit_s >= 0);
  CHECK(std::ranges::max(jobs, {}, &SynthJob::submit_s).submit_s < span_s);
  const Gaps gaps = gaps_of(jobs);
  CHECK(near(gaps.zero_percent, 13, 0.15, 0));
  CHECK(near(gaps.cv, 3.3, 0.25, 0));
  const auto of_hours = [&](std::int64_t from, std::int64_t to) {
    return std::ranges::count_if(jobs, [&](const SynthJob& job) {
      const auto hour = job.submit_s % 86'400 / 3600;
      return hour >= from && hour < to;
    });
  };
  CHECK(of_hours(14, 18) > 2 * of_hours(4, 8));  // published: 2.6 times
}

TEST_CASE("users hold the published shares of GPU time") {
  const Published published = bundled_figures("saturn");
  const auto shares = user_shares(published.cluster);
  CHECK(std::ssize(shares) == published.cluster.users);
  CHECK(near(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-12, 0));
  CHECK(std::ranges::all_of(shares, [](double share) { return share >= 0; }));
  SynthJobs jobs = draw_jobs(fit_joint(published), 50'000, Random(2));
  const Streaks streaks = order_streaks(published.behaviour, jobs, Random(3));
  assign_users(published.cluster, streaks, jobs, Random(4));
  for (const Burst& burst : streaks.bursts)
    CHECK(jobs[streaks.order[burst.first]].user ==
          jobs[streaks.order[burst.first + burst.count - 1]].user);
  CHECK(near(top_share(published.cluster, jobs, 5), 61, 0.1, 0));
  CHECK(near(top_share(published.cluster, jobs, 20), 90, 0.05, 0));
}

}  // namespace schedmate::synth
