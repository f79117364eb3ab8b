// SPDX-License-Identifier: Apache-2.0
#include "policy/forecast.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "base/random.hpp"
#include "tests/support/near.hpp"
#include "tests/support/small.hpp"

namespace schedmate::policy {
namespace {

using testing::day_s;
using testing::near;
using testing::small_trace;
using testing::SmallJob;

bool same(const Forecast::Load& a, const Forecast::Load& b) {
  const auto equal = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  return equal(a.jobs, b.jobs) && equal(a.gpus, b.gpus);
}

/// `count` jobs of two GPUs in the ten minutes from `from_s` on.
void add_jobs(std::vector<SmallJob>& jobs, std::int64_t from_s, int count) {
  for (int i = 0; i < count; ++i) jobs.push_back({.submit_s = from_s + i, .gpus = 2});
}

TEST_CASE("a row is the mean of the same ten minutes on earlier days") {
  std::vector<SmallJob> jobs;
  add_jobs(jobs, 0, 4);
  add_jobs(jobs, day_s, 8);
  add_jobs(jobs, 2 * day_s, 1);
  const ForecastTable table = forecast_from_past(small_trace(jobs));
  CHECK(table.first == at(0));
  CHECK(table.step == Seconds(600));
  CHECK(table.jobs[144] == 4);
  CHECK(table.jobs[288] == 6);  // (4 + 8) / 2
  CHECK(table.gpus[288] == 12);
  CHECK(table.jobs[145] == 0);
}

TEST_CASE("on the first day a row is the mean of an hour that is over, and unknown at first") {
  std::vector<SmallJob> jobs;
  add_jobs(jobs, 0, 6);
  add_jobs(jobs, 600, 3);
  add_jobs(jobs, 7200, 1);
  const ForecastTable table = forecast_from_past(small_trace(jobs));
  for (std::size_t row = 0; row < 6; ++row) CHECK(std::isnan(table.jobs[row]));
  CHECK(table.jobs[6] == 6);
  CHECK(table.jobs[7] == 4.5);                 // rows 1 and 0
  CHECK(near(table.jobs[11], 1.5, 1e-12, 0));  // rows 5 to 0: 9 / 6
  CHECK(near(table.jobs[12], 0.5, 1e-12, 0));  // rows 6 to 1: 3 / 6
}

TEST_CASE("rows are on whole ten minutes of the trace's clock, also before its zero") {
  CHECK(forecast_from_past(small_trace({{1250, 1, 1}})).first == at(1200));
  CHECK(forecast_from_past(small_trace({{1200, 1, 1}})).first == at(1200));
  CHECK(forecast_from_past(small_trace({{-50, 1, 1}})).first == at(-600));
  CHECK(forecast_from_past(Trace()).jobs.empty());
}

TEST_CASE("nothing looks ahead: later arrivals change no answer given before them") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    std::vector<SmallJob> jobs;
    std::int64_t now_s = random.below(3000);
    for (int i = 0; i < 400; ++i) {
      now_s += random.below(1500);
      jobs.push_back({.submit_s = now_s, .gpus = static_cast<std::int32_t>(random.between(1, 8))});
    }
    const auto known = static_cast<std::size_t>(random.between(50, 350));
    const SimTime end = at(jobs[known].submit_s);
    const std::vector<SmallJob> past(jobs.begin(),
                                     jobs.begin() + static_cast<std::ptrdiff_t>(known));
    const auto all = forecast_of(small_trace(jobs));
    const auto half = forecast_of(small_trace(past));
    const SharingSwitch with_all(all, 2, Seconds(100));
    const SharingSwitch with_half(half, 2, Seconds(100));
    for (SimTime now = at(jobs.front().submit_s); now < end; now += Seconds(97)) {
      REQUIRE(same(half->expected(now), all->expected(now)));
      REQUIRE(with_half.on(now) == with_all.on(now));
    }
  }
}

TEST_CASE("what is counted as it comes predicts what the table made of the same trace does") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    std::vector<SmallJob> jobs;
    std::int64_t now_s = random.below(3000) - 1000;
    for (int i = 0; i < 2000; ++i) {
      now_s += random.below(random.below(300) == 0 ? 100'000 : 1000);
      jobs.push_back({.submit_s = now_s, .gpus = static_cast<std::int32_t>(random.between(1, 8))});
    }
    const auto table = forecast_of(small_trace(jobs));
    const auto counted = std::make_shared<SubmissionForecast>();
    SharingSwitch by_table(table, 2, Seconds(100));
    SharingSwitch by_count(counted, 2, Seconds(100));
    SimTime now = at(jobs.front().submit_s);
    for (const SmallJob& job : jobs) {
      for (; now < at(job.submit_s); now += Seconds(531)) {
        REQUIRE(same(counted->expected(now), table->expected(now)));
        REQUIRE(by_count.on(now) == by_table.on(now));
        REQUIRE(by_count.next_change(now) > now);
        REQUIRE(by_count.next_change(now) <= by_table.next_change(now));
      }
      counted->add(at(job.submit_s), job.gpus);
    }
  }
}

TEST_CASE("without a forecast nothing is known and packing stays on") {
  SharingSwitch sharing(nullptr, 2, Seconds(100));
  CHECK(sharing.on(at(50)));
  CHECK(sharing.next_change(at(50)) == never);
  const SubmissionForecast nobody;
  CHECK(std::isnan(nobody.expected(at(0)).jobs));
}

ForecastTable table_of(std::vector<double> jobs) {
  ForecastTable table;
  table.first = at(0);
  table.gpus = jobs;
  table.jobs = std::move(jobs);
  return table;
}

TEST_CASE("the mean is of the next five rows, of fewer at the end, and unknown after it") {
  const auto forecast = forecast_by(table_of({100, 1, 2, 3, 4, 5, 60}));
  const auto jobs = [&](std::int64_t now_s) { return forecast->expected(at(now_s)).jobs; };
  CHECK(jobs(0) == 3);
  CHECK(jobs(599) == 3);
  CHECK(near(jobs(600), (2 + 3 + 4 + 5 + 60) / 5.0, 1e-12, 0));
  CHECK(jobs(2400) == 32.5);
  CHECK(std::isnan(jobs(3600)));
  CHECK(jobs(-5) == 22);  // rows 0 to 4
}

TEST_CASE("the switch is set at multiples of its interval, and on when nothing is known") {
  // Rows 1-5 have a mean of 1, rows 2-6 of 2.6: on from 600 on; after the last row on for good.
  SharingSwitch sharing(forecast_by(table_of({9, 1, 1, 1, 1, 1, 9, 0, 0, 0, 0, 0, 0, 0})), 2,
                        Seconds(100));
  CHECK_FALSE(sharing.on(at(0)));
  CHECK_FALSE(sharing.on(at(599)));
  CHECK(sharing.on(at(600)));
  CHECK(sharing.next_change(at(0)) == at(600));
  // Rows 3-7: (1 + 1 + 1 + 9 + 0) / 5 = 2.4, rows 4-8: 2.2, rows 5-9: 2.0, which is quiet.
  CHECK(sharing.next_change(at(650)) == at(2400));
  CHECK_FALSE(sharing.on(at(2400)));
  CHECK(sharing.on(at(8400)));
  CHECK(sharing.next_change(at(8400)) == never);
}

TEST_CASE("the next change is where the switch really changes") {
  Random random(4);
  for (int round = 0; round < 50; ++round) {
    std::vector<double> jobs;
    for (int row = 0; row < 40; ++row) jobs.push_back(static_cast<double>(random.below(5)));
    SharingSwitch sharing(forecast_by(table_of(jobs)), 2, Seconds(100));
    SimTime now = at(random.below(3000));
    for (SimTime change = sharing.next_change(now); change != never;
         now = change, change = sharing.next_change(now)) {
      REQUIRE(change > now);
      REQUIRE(sharing.on(change - Seconds(1)) == sharing.on(now));
      REQUIRE(sharing.on(change) != sharing.on(now));
    }
  }
}

}  // namespace
}  // namespace schedmate::policy
