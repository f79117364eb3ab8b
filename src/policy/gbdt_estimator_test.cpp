// SPDX-License-Identifier: Apache-2.0
#include "policy/gbdt_estimator.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "base/random.hpp"
#include "tests/support/estimators.hpp"
#include "tests/support/small.hpp"

namespace schedmate::policy {
namespace {

using testing::day_s;
using testing::estimator;
using testing::small_trace;
using testing::SmallJob;

/// Asks about jobs [from, to) of a cluster without a queue, each `times` times.
struct Asked {
  std::size_t from = 0, to = SIZE_MAX;
  int times = 1;
  bool goes_on = false;  ///< was asked up to `from` before
};
std::vector<double> ask(Estimator& estimator, const Trace& trace, const Asked& asked = {}) {
  std::vector<double> predictions;
  std::vector<FinishedJob> ends;
  for (std::uint32_t row = 0; row < trace.jobs.size(); ++row)
    ends.push_back(finished_job(trace, row, trace.jobs[row].submit + trace.jobs[row].duration));
  std::ranges::stable_sort(ends, {}, &FinishedJob::end);
  std::size_t ended = 0;
  for (std::size_t row = 0; row < std::min(asked.to, trace.jobs.size()); ++row) {
    const Job& job = trace.jobs[row];
    for (; ended < ends.size() && ends[ended].end <= job.submit; ++ended)
      if (!asked.goes_on || row >= asked.from) estimator.learn(ends[ended]);
    if (row < asked.from) continue;
    double predicted = 0;
    for (int i = 0; i < asked.times; ++i)
      predicted = estimator({known_job(trace, row), job.submit}).run_time.count();
    predictions.push_back(predicted);
  }
  return predictions;
}

/// Four days of a job every quarter of an hour; short before noon, long after it.
std::vector<SmallJob> short_mornings() {
  std::vector<SmallJob> jobs;
  for (std::int64_t submit_s = 0; submit_s < 4 * day_s; submit_s += 900) {
    const bool morning = submit_s % day_s < day_s / 2;
    jobs.push_back({.submit_s = submit_s, .duration_s = morning ? 60 : 6000});
  }
  return jobs;
}

std::vector<SmallJob> random_jobs() {
  Random random(5);
  std::vector<SmallJob> jobs;
  for (std::int64_t i = 0; i < 400; ++i) {
    const auto user = static_cast<std::uint32_t>(random.below(5));
    jobs.push_back({.submit_s = 700 * i,
                    .gpus = static_cast<std::int32_t>(random.between(1, 8)),
                    .duration_s = random.between(1, 400 << (2 * user)),
                    .user = user});
  }
  return jobs;
}

TEST_CASE("gbdt learns a rule of the hour that the last jobs do not show") {
  const Trace trace = small_trace(short_mornings());
  Estimator gbdt = estimator("gbdt", trace);
  const std::vector<double> predicted = ask(gbdt, trace);
  Estimator last_k = estimator("last_k", trace);
  const std::vector<double> by_last = ask(last_k, trace);
  constexpr std::size_t afternoon = 2 * 96 + 48;  // the first job after noon of the third day
  CHECK(by_last[afternoon] == 60);
  for (std::size_t row = afternoon - 20; row < afternoon; ++row) CHECK(predicted[row] < 120);
  for (std::size_t row = afternoon; row < afternoon + 20; ++row) CHECK(predicted[row] > 3000);
}

TEST_CASE("gbdt learns what users run, and whole seconds of it") {
  std::vector<SmallJob> jobs;
  for (std::int64_t i = 0; i < 300; ++i) {
    const auto user = static_cast<std::uint32_t>(i % 3);
    const std::int64_t duration_s = user == 0 ? 50 : user == 1 ? 700 : 9000;
    jobs.push_back({.submit_s = 600 * i, .duration_s = duration_s, .user = user});
  }
  const Trace trace = small_trace(jobs);
  Estimator gbdt = estimator("gbdt", trace);
  const std::vector<double> predicted = ask(gbdt, trace);
  for (std::size_t row = 200; row < 300; ++row) {
    const double ratio = predicted[row] / static_cast<double>(trace.jobs[row].duration.count());
    CHECK(std::abs(std::log(ratio)) < 0.3);
    CHECK(predicted[row] == std::round(predicted[row]));
  }
}

TEST_CASE("gbdt:profiled learns from GPU use, of jobs that the profiler takes") {
  std::vector<SmallJob> jobs;
  Random random(7);
  for (std::int64_t i = 0; i < 300; ++i) {
    const auto profile = static_cast<std::uint32_t>(random.below(2));
    const bool large = i % 3 == 0;
    jobs.push_back({.submit_s = 600 * i,
                    .gpus = large ? 16 : 1,
                    .duration_s = profile == 0 ? 100 : 5000,
                    .profile = profile});
  }
  Trace trace = small_trace(jobs);
  auto packing = std::make_shared<PackingTables>();
  packing->profiles.resize(2);
  packing->profiles[1].gpu_util_pct = 80;
  trace.packing = packing;
  const auto right = [&](std::string_view spec, bool large) {
    Estimator gbdt = estimator(spec, trace);
    const std::vector<double> predicted = ask(gbdt, trace);
    int count = 0;
    for (std::size_t row = 200; row < 300; ++row) {
      const auto truth = static_cast<double>(trace.jobs[row].duration.count());
      if ((trace.jobs[row].gpus == 16) == large)
        count += std::abs(std::log(predicted[row] / truth)) < 0.7 ? 1 : 0;
    }
    return count;
  };
  CHECK(right("gbdt:profiled", false) == 67);  // all
  CHECK(right("gbdt:profiled", true) < 27);    // of 33
  CHECK(right("gbdt", false) < 54);
}

TEST_CASE("gbdt falls back to last_k until fifty jobs have ended by a midnight") {
  const auto same_as_last_k = [](const std::vector<SmallJob>& jobs, Asked asked) {
    const Trace trace = small_trace(jobs);
    Estimator gbdt = estimator("gbdt", trace);
    Estimator last_k = estimator("last_k", trace);
    return ask(gbdt, trace, asked) == ask(last_k, trace, asked);
  };
  std::vector<SmallJob> jobs = random_jobs();  // 123 a day
  const Asked first_day{.to = 123};
  CHECK(same_as_last_k(jobs, first_day));
  CHECK_FALSE(same_as_last_k(jobs, {.from = 124, .to = 200}));
  jobs.erase(jobs.begin(), jobs.begin() + 80);
  CHECK(same_as_last_k(jobs, {.to = 43 + 123}));  // 43 on the first day
  CHECK_FALSE(same_as_last_k(jobs, {.from = 43 + 124}));
}

TEST_CASE("gbdt falls back to last_k when XGBoost refuses what was measured") {
  std::vector<SmallJob> jobs = random_jobs();
  for (SmallJob& job : jobs) job.profile = 0;
  Trace trace = small_trace(jobs);
  auto packing = std::make_shared<PackingTables>();
  packing->profiles.resize(1);
  packing->profiles[0].gpu_util_pct = std::numeric_limits<double>::infinity();
  trace.packing = packing;
  Estimator profiled = estimator("gbdt:profiled", trace);
  Estimator plain = estimator("gbdt", trace);
  Estimator last_k = estimator("last_k", trace);
  const std::vector<double> expected = ask(last_k, trace);
  CHECK(ask(profiled, trace) == expected);
  CHECK(ask(plain, trace) != expected);
}

TEST_CASE("gbdt does not look ahead: later durations change no earlier prediction") {
  const std::vector<SmallJob> jobs = random_jobs();
  constexpr std::size_t now = 250;
  std::vector<SmallJob> other = jobs;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].submit_s + jobs[i].duration_s > jobs[now].submit_s) other[i].duration_s += 7000;
  }
  const Trace trace = small_trace(jobs);
  const Trace changed = small_trace(other);
  Estimator first = estimator("gbdt", trace);
  Estimator second = estimator("gbdt", changed);
  const std::vector<double> before = ask(first, trace);
  const std::vector<double> after = ask(second, changed);
  for (std::size_t row = 0; row <= now; ++row) CHECK(before[row] == after[row]);
  CHECK(before != after);
}

TEST_CASE("gbdt says the same each time, however often it was asked and by whatever copy") {
  const Trace trace = small_trace(random_jobs());
  Estimator gbdt = estimator("gbdt", trace);
  const Estimator unused = gbdt;
  const std::vector<double> predicted = ask(gbdt, trace);

  Estimator copy = unused;
  CHECK(ask(copy, trace) == predicted);
  Estimator curious = unused;
  CHECK(ask(curious, trace, {.times = 2}) == predicted);
  Estimator late = unused;  // begins with the last day: has missed no history
  CHECK(ask(late, trace, {.from = 380}) ==
        std::vector<double>(predicted.begin() + 380, predicted.end()));

  Estimator half = unused;
  (void)ask(half, trace, {.to = 200});
  Estimator other_half = half;
  const std::vector<double> rest(predicted.begin() + 200, predicted.end());
  CHECK(ask(half, trace, {.from = 200, .goes_on = true}) == rest);
  CHECK(ask(other_half, trace, {.from = 200, .goes_on = true}) == rest);
}

}  // namespace
}  // namespace schedmate::policy
