// SPDX-License-Identifier: Apache-2.0

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <schedmate/eta_calibration.hpp>
#include <schedmate/sim.hpp>

#include "base/random.hpp"
#include "eta/look_back.hpp"
#include "tests/support/estimators.hpp"
#include "tests/support/near.hpp"
#include "tests/support/need.hpp"
#include "tests/support/small.hpp"

namespace schedmate {
namespace {

using testing::near;
using testing::need;

/// Told are the quantiles of a log-normal wait about `median_s`; true is one that is `factor` times
/// as long.
PastForecast off_by(double factor, double median_s, Random& random) {
  constexpr std::array<double, quantile_shares.size()> scores{-1.2816, -0.6745, 0, 0.6745, 1.2816};
  PastForecast made;
  for (std::size_t i = 0; i < scores.size(); ++i)
    made.told[i] = (60 + median_s) * std::exp(0.5 * scores[i]) - 60;
  made.then_s = std::max(0.0, factor * (60 + median_s) * std::exp(0.5 * random.normal()) - 60);
  made.happened = true;
  made.so_far_s = 600;
  return made;
}

/// Shares of new forecasts that happened by the instants that the calibration gives.
Spans shares_below(const EtaCalibration& calibration, double factor) {
  Random random(99);
  Spans below{};
  constexpr int times = 2000;
  for (int i = 0; i < times; ++i) {
    const PastForecast each = off_by(factor, 1000 + 3000 * random.uniform(), random);
    const Spans spans = calibration.calibrated(each.kind, each.so_far_s, each.told);
    CHECK(std::ranges::is_sorted(spans));
    for (std::size_t k = 0; k < spans.size(); ++k) below[k] += each.then_s <= spans[k] ? 1 : 0;
  }
  for (double& each : below) each /= times;
  return below;
}

std::vector<PastForecast> forecasts_off_by(double factor, int count) {
  Random random(7);
  std::vector<PastForecast> past;
  for (int i = 0; i < count; ++i)
    past.push_back(off_by(factor, 1000 + 3000 * random.uniform(), random));
  return past;
}

TEST_CASE("forecasts that were all too early are moved until they hold") {
  const Spans below = shares_below(EtaCalibration(forecasts_off_by(4, 2000)), 4);
  for (std::size_t i = 0; i < below.size(); ++i) {
    CAPTURE(i);
    CHECK(near(below[i], quantile_shares[i], 0, 0.03));
  }
  const Spans as_told = shares_below(EtaCalibration({}), 4);
  CHECK(as_told.back() < 0.2);
}

TEST_CASE("what has not happened yet counts as at least that late") {
  std::vector<PastForecast> past = forecasts_off_by(4, 3000);
  const double seen_s = 6000;
  std::int64_t open = 0;
  for (PastForecast& each : past)
    if (each.then_s > seen_s) {
      each.then_s = seen_s;
      each.happened = false;
      ++open;
    }
  REQUIRE(open > 1000);
  // Up to where anything was seen, the shares hold, as if all were known.
  CHECK(near(shares_below(EtaCalibration(past), 4)[1], 0.25, 0, 0.05));
  std::erase_if(past, [](const PastForecast& each) { return !each.happened; });
  CHECK(shares_below(EtaCalibration(past), 4)[2] < 0.4);  // without them too early
}

TEST_CASE("few forecasts change nothing, and kinds are apart") {
  std::vector<PastForecast> past = forecasts_off_by(4, 29);
  const Spans told = past.front().told;
  CHECK(EtaCalibration(past).calibrated(ForecastKind::start, 600, told) == told);
  past = forecasts_off_by(4, 300);
  CHECK(EtaCalibration(past).calibrated(ForecastKind::end_of_running, 600, told) == told);
  CHECK(EtaCalibration(past).calibrated(ForecastKind::start, 600, told) != told);
}

TEST_CASE("of many forecasts some count, from the first to the last") {
  auto past = forecasts_off_by(2, 10'000);
  for (std::size_t i = 0; i < past.size(); ++i) past[i].so_far_s = static_cast<double>(i);
  past.push_back(past.front());
  past.back().kind = ForecastKind::end_of_running;
  const auto counting = forecasts_that_count(past);
  REQUIRE(counting.size() == 3001);
  CHECK(counting.front().so_far_s < 4);
  CHECK(counting[1500].so_far_s > 4990);
  CHECK(counting[1500].so_far_s < 5010);
  CHECK(counting[2999].so_far_s > 9990);
  const EtaCalibration all(past), some(counting);
  CHECK(all.size(ForecastKind::start) == 3000);
  CHECK(all.size(ForecastKind::end_of_running) == 1);
  const PastForecast& each = past[77];
  CHECK(all.calibrated(each.kind, 77, each.told) == some.calibrated(each.kind, 77, each.told));
}

TEST_CASE("forecasts that are alike count most") {
  Random random(3);
  std::vector<PastForecast> past;
  for (int i = 0; i < 1000; ++i) {
    past.push_back(off_by(1, 600, random));
    past.push_back(off_by(8, 40'000, random));
  }
  const EtaCalibration calibration(past);
  const auto median_for = [&](double median_s) {
    Random fresh(5);
    const PastForecast each = off_by(1, median_s, fresh);
    return calibration.calibrated(each.kind, each.so_far_s, each.told)[2];
  };
  CHECK(near(median_for(600) + 60, 660, 0.15, 0));
  CHECK(near(median_for(40'000) + 60, 8 * 40'060.0, 0.15, 0));
}

TEST_CASE("a forecast's instants move together with its calibration, never stays") {
  QueueSnapshot snapshot;
  snapshot.now = at(1000);
  snapshot.jobs.resize(2);
  snapshot.jobs[0].submit = at(400);
  snapshot.jobs[1].submit = at(400);
  QueueForecast forecast;
  const InstantQuantiles told{at(2000), at(2300), at(2600), at(3000), at(4000)};
  forecast.jobs.resize(2);
  forecast.jobs[0].start = told;
  const InstantQuantiles end{at(42'000), at(42'300), at(42'600), at(43'000), at(44'000)};
  forecast.jobs[0].end = end;
  forecast.jobs[1].start = InstantQuantiles{at(2000), never, never, never, never};
  forecast.jobs[1].end = {never, never, never, never, never};
  calibrate(forecast, snapshot, EtaCalibration(forecasts_off_by(4, 500)));
  CHECK(forecast.jobs[0].start->p50 > at(5000));
  CHECK(forecast.jobs[0].end.p50 == end.p50);  // nothing is known of ends
  CHECK(near(FractionalSeconds(forecast.jobs[1].start->p10 - at(2000)).count(), 0, 0, 1));
  CHECK(forecast.jobs[1].start->p25 == never);
  CHECK(forecast.jobs[1].end.p10 == never);
}

TEST_CASE("a calibrated end does not come before its start") {
  QueueSnapshot snapshot;
  snapshot.now = at(1000);
  snapshot.jobs.resize(1);
  snapshot.jobs[0].submit = at(400);
  QueueForecast forecast;
  forecast.jobs.resize(1);
  JobForecast& job = forecast.jobs[0];
  job.start = InstantQuantiles{at(2000), at(2300), at(2600), at(3000), at(4000)};
  job.end = {at(2060), at(2360), at(2660), at(3060), at(4060)};
  calibrate(forecast, snapshot, EtaCalibration(forecasts_off_by(4, 500)));
  CHECK(job.start->p10 > at(2060));
  CHECK(job.end.p10 == job.start->p10);
  CHECK(job.end.p50 == job.start->p50);
  CHECK(job.end.p75 == job.start->p75);
  CHECK(job.end.p90 == job.start->p90);
}

TEST_CASE("many of one pool and day count as the root of their number") {
  const Spans told{540, 1140, 1740, 2340, 2940};
  std::vector<PastForecast> past;
  const auto add = [&](std::size_t count, double factor, std::uint64_t crowd) {
    for (std::size_t i = 0; i < count; ++i)
      past.push_back({.kind = ForecastKind::start,
                      .so_far_s = 600,
                      .told = told,
                      .then_s = factor * (told[2] + 60) - 60,
                      .happened = true,
                      .crowd = crowd});
  };
  const auto median = [&] {
    return EtaCalibration(past).calibrated(ForecastKind::start, 600, told)[2] + 60;
  };
  add(400, 8, 1);  // as 20
  for (std::uint64_t crowd = 2; crowd < 42; ++crowd) add(1, 0.5, crowd);
  CHECK(near(median(), 0.5 * 1800, 0.1, 0));
  for (PastForecast& each : past) each.crowd = 0;
  CHECK(near(median(), 8 * 1800.0, 0.1, 0));
}

TEST_CASE("what is like none of the past stays as it was told") {
  const Spans told{540, 1140, 1740, 2340, 2940}, unlike{5e5, 6e5, 7e5, 8e5, 9e5};
  const std::vector<PastForecast> past(40, {.kind = ForecastKind::start,
                                            .so_far_s = 600,
                                            .told = told,
                                            .then_s = 8 * 1800,
                                            .happened = true});
  const EtaCalibration calibration(past);
  CHECK(calibration.calibrated(ForecastKind::start, 600, told)[2] > 10'000);
  CHECK(near(calibration.calibrated(ForecastKind::start, 600, unlike)[2], 7e5, 0.01, 0));
}

TEST_CASE("a look back knows nothing that came later, and asks each job once a day") {
  std::vector<testing::SmallJob> jobs;
  Random random(11);
  for (std::int64_t i = 0; i < 300; ++i)
    jobs.push_back({.submit_s = 600 * i,
                    .gpus = 8,
                    .duration_s = random.between(600, 12'000),
                    .vc = 0,
                    .user = static_cast<std::uint32_t>(i % 3)});
  const Trace trace = testing::small_trace(jobs);
  const ClusterSpec cluster = testing::small_cluster({4});
  const Scheduler scheduler = need(make_scheduler("fifo", {cluster}, {}));
  SimOptions options;
  options.estimator = testing::estimator("oracle", trace);
  const SimResult result = simulate(trace, cluster, scheduler, options).value();
  std::vector<Seconds> durations;
  for (const Job& job : trace.jobs) durations.push_back(job.duration);
  const std::vector<Seconds> no_limits;
  const eta::ReplayedTrace replay{trace, cluster, result.outcomes, durations, no_limits};
  const eta::LookBack asked{at(86'400), at(150'000), 50, {.samples = 20}};
  const auto seen = eta::look_back(replay, scheduler, asked);
  CHECK(seen.left_out == 0);
  REQUIRE(seen.forecasts.size() > 50);
  for (const PastForecast& each : seen.forecasts) {
    CHECK(each.then_s >= 0);
    CHECK(each.then_s <= 150'000 - 86'400);
    CHECK(std::ranges::is_sorted(each.told));
  }
  std::map<std::pair<std::uint32_t, std::int64_t>, int> times;
  for (const auto& instant : eta::draw_instants(eta::ReplayedQueue(replay), asked))
    for (const std::uint32_t row : instant.rows)
      ++times[{row, (instant.when - asked.from).count() / 86'400}];
  for (const auto& [job_and_day, count] : times) CHECK(count == 1);
  // Whoever ends after the look back was made is not known to have ended.
  const auto later = eta::look_back(replay, scheduler, {asked.from, at(160'000), 50, asked.how});
  const auto open = [](const eta::SeenForecasts& of) {
    return std::ranges::count_if(of.forecasts, [](const auto& each) { return !each.happened; });
  };
  CHECK(open(seen) > 0);
  CHECK(open(later) > 0);
}

}  // namespace
}  // namespace schedmate
