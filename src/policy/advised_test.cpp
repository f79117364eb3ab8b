// SPDX-License-Identifier: Apache-2.0
/// An advisor beside a host's estimator: what it earns.
#include "tests/support/advised.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <schedmate/sim.hpp>
#include <schedmate/workload.hpp>

#include "base/random.hpp"
#include "tests/support/near.hpp"
#include "tests/support/small.hpp"

namespace schedmate::policy {
namespace {

using testing::near;
using testing::predicted_of;
using testing::small_trace;
using testing::SmallJob;

/// Durations from a minute to a day; columns "right" (the duration), "noise" (another job's).
Trace random_trace(std::size_t count = 400) {
  Random random(5);
  std::vector<SmallJob> jobs;
  std::vector<double> right;
  std::vector<double> noise;
  const auto draw = [&] { return std::round(60 * std::exp(random.uniform() * std::log(1440.0))); };
  for (std::size_t i = 0; i < count; ++i) {
    right.push_back(draw());
    noise.push_back(draw());
    jobs.push_back({.submit_s = static_cast<std::int64_t>(i) * 90'000,
                    .gpus = 1,
                    .duration_s = static_cast<std::int64_t>(right.back())});
  }
  Trace trace = small_trace(jobs);
  trace.columns = {{"right", right}, {"noise", noise}};
  return trace;
}

Scheduler advised_by(std::string advice, bool shrink = true) {
  Scheduler scheduler;
  scheduler.estimator = "typical";
  scheduler.advice = std::move(advice);
  scheduler.shrink = shrink;
  return scheduler;
}

/// Each job enters when the one before has ended.
std::vector<Prediction> predictions(const Trace& trace, const Estimator& estimator) {
  std::vector<Prediction> given;
  for (std::uint32_t row = 0; row < trace.jobs.size(); ++row) {
    const Job& job = trace.jobs[row];
    given.push_back(predicted_of(estimator, trace, row));
    estimator.learn(finished_job(trace, row, job.submit + job.duration));
  }
  return given;
}

std::vector<Prediction> predictions(const Trace& trace, const Scheduler& scheduler) {
  return predictions(trace, make_estimator(scheduler, "", testing::replay_input(trace)).value());
}

std::vector<double> run_times(const std::vector<Prediction>& given) {
  std::vector<double> times;
  for (const Prediction& each : given) times.push_back(each.run_time.count());
  return times;
}

TEST_CASE("GPU use is read by boosted trees only where the profiler measures every job") {
  const Trace trace = random_trace(3);
  Scheduler scheduler;
  const auto made = [&] {
    return make_estimator(scheduler, "gbdt:profiled", testing::replay_input(trace));
  };
  REQUIRE_FALSE(made());
  CHECK(made().error().message.contains("reads what Lucid's profiler measures"));
  CHECK(make_estimator(scheduler, "gbdt", testing::replay_input(trace)));
  scheduler.profiler.emplace();
  CHECK(made());
  scheduler.profiler->bypass = ProfilerStage::Bypass::outlasting;
  CHECK_FALSE(made());
  scheduler.profiler.emplace().max_gpus = 4;
  CHECK_FALSE(made());
  scheduler.profiler.reset();
  scheduler.advice = "gbdt:profiled";
  CHECK_FALSE(make_estimator(scheduler, "typical", testing::replay_input(trace)));
}

TEST_CASE("an advisor without an answer leaves the host's predictions as they are") {
  Trace trace = random_trace();
  // last_k knows nothing before the first job has ended; here none ever does.
  const auto host = make_estimator("column:right", testing::replay_input(trace)).value();
  const auto both =
      make_estimator(advised_by("last_k"), "column:right", testing::replay_input(trace)).value();
  for (std::uint32_t row = 0; row < trace.jobs.size(); ++row) {
    REQUIRE(predicted_of(make_estimator("last_k", {}).value(), trace, row).blind);
    const Prediction prediction = predicted_of(both, trace, row);
    CHECK(prediction.run_time.count() == predicted_of(host, trace, row).run_time.count());
    CHECK(prediction.advised == 0);
    CHECK_FALSE(prediction.use.has_value());
  }
}

TEST_CASE("advice counts for nothing at first, and for nearly all when it was right for long") {
  const Trace trace = random_trace();
  const auto given = predictions(trace, advised_by("column:right"));
  CHECK(given.front().advised == 0);
  CHECK(given[5].advised < 0.8);
  CHECK(given[100].advised > 0.9);
  CHECK(given.back().advised > 0.95);
  const double duration_s = trace.columns.at("right").back();
  CHECK(std::abs(std::log(given.back().run_time.count() / duration_s)) < 0.2);
}

TEST_CASE("noise earns next to nothing") {
  const Trace trace = random_trace();
  const auto host = run_times(
      predictions(trace, make_estimator("typical", testing::replay_input(trace)).value()));
  const auto given = predictions(trace, advised_by("column:noise"));
  double squared_host = 0;
  double squared = 0;
  double most = 0;
  for (std::size_t row = 50; row < given.size(); ++row) {
    const double truth = std::log(trace.columns.at("right")[row]);
    squared += std::pow(std::log(given[row].run_time.count()) - truth, 2);
    squared_host += std::pow(std::log(host[row]) - truth, 2);
    most = std::max(most, given[row].advised);
  }
  CHECK(most < 0.25);
  CHECK(squared < 1.02 * squared_host);
}

TEST_CASE("an advisor that has lost its skill loses its weight") {
  Trace trace = random_trace(1200);
  auto& advice = trace.columns["right"];
  for (std::size_t row = 400; row < advice.size(); ++row) advice[row] = trace.columns["noise"][row];
  const auto given = predictions(trace, advised_by("column:right"));
  CHECK(given[400].advised > 0.95);
  CHECK(given.back().advised < 0.25);
}

TEST_CASE("without shrinkage the advice is what is predicted, from the first job on") {
  const Trace trace = random_trace(50);
  const auto given = predictions(trace, advised_by("column:noise", false));
  for (std::size_t row = 0; row < given.size(); ++row) {
    CHECK(near(given[row].run_time.count(), trace.columns.at("noise")[row], 1e-12, 0));
    CHECK(given[row].advised == 1);
  }
}

TEST_CASE("advice is given once for each job, though it is asked about more often") {
  const Trace trace = random_trace(30);
  const auto estimator =
      make_estimator(advised_by("user_mean", false), "", testing::replay_input(trace)).value();
  estimator.learn(finished_job(trace, 0, at(0)));
  const auto advised_s = [&](std::size_t row) {
    return predicted_of(estimator, trace, row).run_time.count();
  };
  const double first = advised_s(9);
  CHECK(near(first, trace.columns.at("right")[0], 1e-12, 0));
  for (std::uint32_t row = 1; row < 5; ++row) estimator.learn(finished_job(trace, row, at(0)));
  CHECK(advised_s(9) == first);
  // Another job is advised with what has been learned.
  CHECK(advised_s(10) != first);
}

/// One user runs the same program again and again, half an hour apart; the profiles are given.
struct Resubmissions {
  Trace trace;
  Workload workload;

  explicit Resubmissions(const std::vector<std::uint32_t>& profiles)
      : trace(small_trace(jobs(profiles.size()))) {
    const std::string data = SCHEDMATE_SOURCE_DIR "/data/";
    const auto recipe = read_recipe(data + "recipes/light.toml").value();
    const auto interference = read_interference(data + "interference.toml").value();
    const auto errors = read_extraction_errors(data + "extraction_errors.toml").value();
    WorkloadOptions options;
    options.errors = 0;
    workload = make_workload(trace, {recipe, interference, errors}, options).value();
    PackingTables tables;
    tables.profiles.resize(2);
    tables.profiles[0].memory_mib = 1000;
    tables.profiles[1].memory_mib = 2000;
    trace.packing = std::make_shared<const PackingTables>(std::move(tables));
    for (std::size_t row = 0; row < profiles.size(); ++row) {
      trace.jobs[row].profile = profiles[row];
      trace.jobs[row].state = EndState::completed;
    }
  }
  static std::vector<SmallJob> jobs(std::size_t count) {
    std::vector<SmallJob> made;
    for (std::size_t i = 0; i < count; ++i)
      made.push_back({.submit_s = static_cast<std::int64_t>(1800 * i), .duration_s = 600});
    return made;
  }
  /// Whether GPU use was passed on, job by job.
  [[nodiscard]] std::vector<bool> passed_on(bool profiles = true, bool shrink = true) const {
    std::vector<bool> passed;
    Scheduler scheduler = advised_by("advisor", shrink);
    if (profiles) scheduler.profiler.emplace();
    const auto both =
        make_estimator(scheduler, "", testing::replay_input(trace, 1, &workload)).value();
    for (const Prediction& each : predictions(trace, both)) passed.push_back(each.use.has_value());
    return passed;
  }
};

TEST_CASE("predicted GPU use is passed on once it was right often enough, while it is") {
  std::vector<std::uint32_t> profiles(230, 0);
  for (std::uint32_t row = 100; row < 230; ++row) profiles[row] = row % 2;
  const auto passed = Resubmissions(profiles).passed_on();
  // The first job has no match. With weights of 0.99 a job back, eleven are worth ten.
  for (std::size_t row = 0; row < 12; ++row) CHECK_FALSE(passed[row]);
  for (std::size_t row = 12; row <= 100; ++row) CHECK(passed[row]);
  // From then on the mean of the best three is 1333 or 1667 MiB, and never right: after n jobs a
  // share of 0.99^n (1 - 0.99^100) / (1 - 0.99^(100 + n)) is left, 0.27 at 100 and 0.22 at 115.
  for (std::size_t row = 101; row <= 195; ++row) CHECK(passed[row]);
  for (std::size_t row = 217; row < 230; ++row) CHECK_FALSE(passed[row]);
}

TEST_CASE("advisor_oracle is right where the Advisor has an answer, and says nothing elsewhere") {
  const Resubmissions made(std::vector<std::uint32_t>(20, 0));
  const EstimatorInput input = testing::replay_input(made.trace, 1, &made.workload);
  const auto advisor = predictions(made.trace, make_estimator("advisor", input).value());
  const auto right = predictions(made.trace, make_estimator("advisor_oracle:use", input).value());
  const auto silent = predictions(made.trace, make_estimator("advisor_oracle", input).value());
  CHECK(right[0].blind);
  for (std::size_t row = 1; row < right.size(); ++row) {
    CAPTURE(row);
    CHECK_FALSE(advisor[row].blind);
    CHECK(right[row].run_time == FractionalSeconds(made.trace.jobs[row].duration));
    CHECK(right[row].source == advisor[row].source);
    CHECK(right[row].use.has_value() == advisor[row].use.has_value());
    CHECK_FALSE(silent[row].use.has_value());
  }
}

TEST_CASE("predicted GPU use that is mostly wrong is never passed on") {
  std::vector<std::uint32_t> profiles;
  for (std::uint32_t row = 0; row < 200; ++row) profiles.push_back(row % 2);
  const auto passed = Resubmissions(profiles).passed_on();
  CHECK(std::ranges::count(passed, true) == 0);
}

TEST_CASE("GPU use is not guessed where knowing it costs nothing") {
  const Resubmissions made(std::vector<std::uint32_t>(50, 0));
  CHECK(std::ranges::count(made.passed_on(true), true) > 0);
  for (const bool shrink : {true, false})
    CHECK(std::ranges::count(made.passed_on(false, shrink), true) == 0);
}

TEST_CASE("the wrong spec of an advisor is an error that names the nearest one") {
  const Trace trace = random_trace(2);
  const auto made = make_estimator(advised_by("advisr"), "", testing::replay_input(trace));
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error().code == ErrorCode::not_found);
  CHECK(made.error().message.find("advisor") != std::string::npos);
}

}  // namespace
}  // namespace schedmate::policy
