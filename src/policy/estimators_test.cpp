// SPDX-License-Identifier: Apache-2.0
#include "tests/support/estimators.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <schedmate/sim.hpp>
#include <schedmate/workload.hpp>

#include "base/random.hpp"
#include "tests/support/small.hpp"

namespace schedmate {
namespace {

using testing::estimator;
using testing::small_cluster;
using testing::small_trace;
using testing::SmallJob;

Job job_of(std::uint32_t user, std::int32_t gpus, std::int64_t duration_s) {
  Job job;
  job.user = user;
  job.gpus = gpus;
  job.duration = Seconds(duration_s);
  return job;
}

double foretold(const Estimator& estimator, const Job& job, std::size_t row = 0,
                const History& history = {}) {
  return estimator({job, row, SimTime(), history}).run_time.count();
}

/// User 0: 8 GPUs 100, 200, 300, 700 s and 1 GPU 50 s; user 1: 8 GPUs 1000 s.
History some_history() {
  History history;
  for (const std::int64_t duration_s : {100, 200, 300, 700}) {
    history.add(job_of(0, 8, duration_s), {});
  }
  history.add(job_of(0, 1, 50), {});
  history.add(job_of(1, 8, 1000), {});
  return history;
}

TEST_CASE("last_k is the mean of the last three alike, or of as many as asked for or there are") {
  const Trace trace;
  const History history = some_history();
  CHECK(foretold(estimator("last_k", trace), job_of(0, 8, 1), 0, history) == 400);
  CHECK(foretold(estimator("last_k:1", trace), job_of(0, 8, 1), 0, history) == 700);
  CHECK(foretold(estimator("last_k:99", trace), job_of(0, 8, 1), 0, history) == 325);
}

TEST_CASE("without a like job last_k falls back to the user, then to the VC, then to an hour") {
  const Trace trace;
  const History history = some_history();
  const Estimator last_k = estimator("last_k", trace);
  CHECK(foretold(last_k, job_of(0, 4, 1), 0, history) == 270);  // 1350 / 5
  CHECK(foretold(last_k, job_of(2, 8, 1), 0, history) == doctest::Approx(2350.0 / 6));
  CHECK(foretold(last_k, job_of(0, 8, 1), 0, History()) == 3600);
}

TEST_CASE("user_mean is over all GPU counts of the user, then of the VC, then an hour") {
  const Trace trace;
  const Estimator user_mean = estimator("user_mean", trace);
  CHECK(foretold(user_mean, job_of(1, 1, 1), 0, some_history()) == 1000);
  CHECK(foretold(user_mean, job_of(0, 8, 1), 0, some_history()) == 270);
  CHECK(foretold(user_mean, job_of(7, 8, 1), 0, some_history()) == doctest::Approx(2350.0 / 6));
  CHECK(foretold(user_mean, job_of(7, 8, 1), 0, History()) == 3600);
}

TEST_CASE("typical is the geometric mean of the VC, an hour without any, whoever asks") {
  const Trace trace;
  const Estimator typical = estimator("typical", trace);
  // 100 x 200 x 300 x 700 x 50 x 1000, the sixth root.
  CHECK(foretold(typical, job_of(0, 8, 1), 0, some_history()) ==
        doctest::Approx(std::pow(2.1e14, 1.0 / 6)));
  CHECK(foretold(typical, job_of(5, 1, 9), 0, some_history()) ==
        foretold(typical, job_of(0, 8, 1), 0, some_history()));
  CHECK(foretold(typical, job_of(0, 8, 1), 0, History()) == 3600);
}

TEST_CASE("the Advisor needs to know what the jobs are") {
  const Trace trace;
  for (const std::string_view spec : {"advisor", "advisor_paper", "advisor_oracle"}) {
    const auto made = make_estimator(spec, {trace, 1});
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().code == ErrorCode::invalid);
    CHECK(made.error().message.find("--set workload=") != std::string::npos);
  }
}

TEST_CASE("how many similar jobs count is one or more") {
  const Trace trace;
  const Workload workload;
  for (const std::string_view spec : {"advisor:0", "advisor:x", "advisor_paper:-1"}) {
    const auto made = make_estimator(spec, {trace, 1, &workload});
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().code == ErrorCode::unsupported);
  }
  CHECK(make_estimator("advisor_paper:10", {trace, 1, &workload}).has_value());
}

TEST_CASE("oracle_retrieval is the mean of the last finished jobs of the template, or no advice") {
  const Trace trace = small_trace({{0, 1, 100}, {0, 8, 7}, {0, 1, 200}, {0, 1, 600}, {0, 1, 1000}});
  Workload workload;
  workload.template_of_row = {0, 1, 0, 0, 0};
  History history;
  for (std::uint32_t row = 0; row < 4; ++row) history.add(trace.jobs[row], {.row = row, .end = {}});
  const auto predict = [&](std::string_view spec, std::size_t row, const History& known) {
    const Estimator made = make_estimator(spec, {trace, 1, &workload}).value();
    return made({trace.jobs[row], row, SimTime(), known});
  };
  CHECK(predict("oracle_retrieval", 4, history).run_time.count() == doctest::Approx(300));
  CHECK(predict("oracle_retrieval:2", 4, history).run_time.count() == doctest::Approx(400));
  CHECK_FALSE(predict("oracle_retrieval", 4, history).blind);
  CHECK(predict("oracle_retrieval", 4, History()).blind);
  CHECK(make_estimator("oracle_retrieval:0", {trace, 1, &workload}).error().code ==
        ErrorCode::unsupported);
  CHECK(make_estimator("oracle_retrieval", {trace, 1}).error().code == ErrorCode::invalid);
}

TEST_CASE("oracle is the true duration, column what the trace's column says") {
  Trace trace = small_trace({{0, 1, 10}, {0, 1, 20}});
  trace.columns["guess"] = {7, -8.5};
  CHECK(foretold(estimator("oracle", trace), trace.jobs[1], 1, {}) == 20);
  CHECK(foretold(estimator("column:guess", trace), trace.jobs[1], 1, {}) == -8.5);
}

TEST_CASE("a limit is never below the duration, about three times as long, and as people type it") {
  const Trace trace;
  const Estimator limit = estimator("limit", trace);
  const Estimator close = estimator("limit:1.2", trace);
  Random random(1);
  double over = 0;
  constexpr std::size_t count = 20'000;
  for (std::size_t row = 0; row < count; ++row) {
    const std::int64_t duration_s = random.between(0, 200'000);
    const double limit_s = foretold(limit, job_of(0, 1, duration_s), row, {});
    REQUIRE(limit_s >= static_cast<double>(duration_s));
    REQUIRE(foretold(close, job_of(0, 1, duration_s), row, {}) >= static_cast<double>(duration_s));
    const double step = limit_s <= 7200 ? 900 : limit_s <= 86'400 ? 3600 : 86'400;
    REQUIRE(std::fmod(limit_s, step) == 0);
    over += foretold(limit, job_of(0, 1, 10'000'000), row, {}) / 10'000'000;
  }
  // Exponential with mean 2 on top of 1: standard error 2 / sqrt(20000) = 0.014.
  CHECK(over / count == doctest::Approx(3).epsilon(0.03));
}

TEST_CASE("limits of factor 1 are the durations, others depend on row and seed alone") {
  const Trace trace;
  const Job job = job_of(0, 1, 5000);
  CHECK(foretold(estimator("limit:1", trace), job, 3) == 5000);
  CHECK(foretold(estimator("limit:1", trace), job_of(0, 1, 0), 3, {}) == 1);
  const auto limits = [&](std::uint64_t seed) {
    std::vector<double> values;
    for (std::size_t row = 0; row < 20; ++row) {
      values.push_back(foretold(estimator("limit", trace, seed), job, row, some_history()));
    }
    return values;
  };
  CHECK(limits(1) == limits(1));
  CHECK(limits(1) != limits(2));
}

TEST_CASE("a noisy oracle errs as often and as much as Helios makes it") {
  const Trace trace;
  const Estimator noisy = estimator("noisy_oracle", trace);
  constexpr std::size_t count = 20'000;
  constexpr double duration_s = 1e6;
  std::array<int, 5> seen{};
  int above = 0;
  for (std::size_t row = 0; row < count; ++row) {
    const double estimate_s = foretold(noisy, job_of(0, 1, 1'000'000), row);
    REQUIRE(estimate_s >= 1);
    REQUIRE(estimate_s <= 101 * duration_s);
    if (estimate_s > duration_s) {
      ++above;
      const double error = estimate_s / duration_s - 1;
      ++seen[error <= 0.1 ? 0 : error <= 0.5 ? 1 : error <= 1 ? 2 : error <= 10 ? 3 : 4];
    }
  }
  // Five standard errors of a share of 20,000 are at most 0.018.
  CHECK(above / double{count} == doctest::Approx(0.5).epsilon(0.04));
  constexpr std::array shares{0.1, 0.4, 0.2, 0.2, 0.1};
  for (std::size_t i = 0; i < shares.size(); ++i)
    CHECK(std::abs(seen[i] / double{count} - shares[i] / 2) < 0.018);
}

TEST_CASE("a noisy oracle depends on seed and row alone, and is never below a second") {
  const Trace trace;
  const auto errors = [&](std::uint64_t seed) {
    std::vector<double> values;
    for (std::size_t row = 0; row < 50; ++row)
      values.push_back(foretold(estimator("noisy_oracle", trace, seed), job_of(0, 1, 5000), row));
    return values;
  };
  CHECK(errors(1) == errors(1));
  CHECK(errors(1) != errors(2));
  CHECK(std::ranges::count(errors(1), 1.0) > 0);  // an error of more than the duration, downwards
  CHECK(foretold(estimator("noisy_oracle", trace), job_of(0, 1, 0), 3) == 1);
}

/// Estimates in order of entry, on one node with a queue.
std::vector<double> estimates(std::string_view spec, const std::vector<SmallJob>& jobs) {
  const Trace trace = small_trace(jobs);
  std::vector<double> given;
  SimOptions options;
  options.estimator = [&, inner = estimator(spec, trace)](const Entering& at) {
    const Prediction estimate = inner(at);
    given.push_back(estimate.run_time.count());
    return estimate;
  };
  Scheduler fifo = make_scheduler("fifo", {trace, small_cluster({1}), {}}, {}).value();
  CHECK(simulate(trace, small_cluster({1}), fifo, options).has_value());
  return given;
}

// Those that read a workload, too, and the policies: tests/conformance/foresight_test.cpp.
TEST_CASE("none but oracles and limit looks at the job's own duration, none at later jobs") {
  Random random(3);
  std::vector<SmallJob> jobs;
  for (std::int64_t i = 0; i < 60; ++i) {
    jobs.push_back({.submit_s = 20 * i,
                    .gpus = static_cast<std::int32_t>(random.between(1, 8)),
                    .duration_s = random.between(1, 100),
                    .user = static_cast<std::uint32_t>(random.below(3))});
  }
  constexpr std::size_t now = 30;
  std::vector<SmallJob> other = jobs;
  for (std::size_t i = now; i < other.size(); ++i) other[i].duration_s += 1000;
  for (const std::string_view spec :
       {"last_k", "last_k:1", "user_mean", "typical", "gbdt", "oracle", "limit", "noisy_oracle"}) {
    CAPTURE(spec);
    const auto before = estimates(spec, jobs);
    const auto after = estimates(spec, other);
    const bool knows_duration = spec == "oracle" || spec == "limit" || spec == "noisy_oracle";
    const std::size_t same = knows_duration ? now : now + 1;
    for (std::size_t i = 0; i < same; ++i) CHECK(before[i] == after[i]);
    CHECK((before[now] != after[now]) == knows_duration);
  }
}

TEST_CASE("an estimator that is not there or cannot be read is an error that says so") {
  const Trace trace;
  const auto error = [&](std::string_view spec) {
    return make_estimator(spec, {trace, 1}).error();
  };
  CHECK(error("lastk").code == ErrorCode::not_found);
  CHECK(error("lastk").message.find("nearest: last_k;") != std::string::npos);
  CHECK(error("last_k:0").code == ErrorCode::unsupported);
  CHECK(error("last_k:two").message.find("last_k:two") != std::string::npos);
  CHECK(error("limit:0.5").code == ErrorCode::unsupported);
  CHECK(error("limit:nan").code == ErrorCode::unsupported);
  CHECK(error("gbdt:profile").code == ErrorCode::unsupported);
  for (const char* plain : {"typical:5", "user_mean:x", "noisy_oracle:3"}) {
    CAPTURE(plain);
    CHECK(error(plain).message.ends_with(" takes no argument"));
  }
  CHECK(error("gbdt:profile").message.find("gbdt:profiled") != std::string::npos);
  CHECK(error("column:guess").code == ErrorCode::invalid);
  CHECK(error("column:guess").message.find("column:guess") != std::string::npos);
}

TEST_CASE("every row of the table makes an estimator under its own name") {
  Trace trace;
  trace.columns["x"] = {};
  const Workload workload;
  for (const EstimatorRow& row : estimator_rows()) {
    CAPTURE(row.name);
    const std::string spec = std::string(row.name) + (row.name == "column" ? ":x" : "");
    CHECK(make_estimator(spec, {trace, 1, &workload}).has_value());
    CHECK_FALSE(row.summary.empty());
  }
}

}  // namespace
}  // namespace schedmate
