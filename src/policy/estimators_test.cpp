// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <schedmate/sim.hpp>
#include <schedmate/workload.hpp>

#include "base/random.hpp"
#include "tests/support/advised.hpp"
#include "tests/support/near.hpp"
#include "tests/support/small.hpp"

namespace schedmate::policy {
namespace {

using testing::estimator;
using testing::near;
using testing::small_cluster;
using testing::small_trace;
using testing::SmallJob;

double predicted_s(const Estimator& estimator, std::uint32_t user, std::int32_t gpus) {
  const KnownJob job{.user = user, .gpus = gpus};
  return estimator({job, SimTime()}).run_time.count();
}
double predicted_s(const Estimator& estimator, const Trace& trace, std::size_t row) {
  const KnownJob job = known_job(trace, row);
  return estimator({job, SimTime()}).run_time.count();
}

/// It has seen user 0: 8 GPUs 100, 200, 300, 700 s and 1 GPU 50 s; user 1: 8 GPUs 1000 s.
Estimator experienced(std::string_view spec) {
  const Trace trace = small_trace({{.gpus = 8, .duration_s = 100},
                                   {.gpus = 8, .duration_s = 200},
                                   {.gpus = 8, .duration_s = 300},
                                   {.gpus = 8, .duration_s = 700},
                                   {.gpus = 1, .duration_s = 50},
                                   {.gpus = 8, .duration_s = 1000, .user = 1}});
  Estimator made = make_estimator(spec, {}).value();
  for (std::size_t row = 0; row < trace.jobs.size(); ++row)
    made.learn(finished_job(trace, row, SimTime()));
  return made;
}

/// As many jobs of these durations, seconds.
template <class Duration>
Trace trace_of(std::size_t count, const Duration& duration_s) {
  std::vector<SmallJob> jobs;
  for (std::size_t i = 0; i < count; ++i) jobs.push_back({.duration_s = duration_s()});
  return small_trace(jobs);
}

TEST_CASE("last_k is the mean of the last three alike, or of as many as asked for or there are") {
  CHECK(predicted_s(experienced("last_k"), 0, 8) == 400);
  CHECK(predicted_s(experienced("last_k:1"), 0, 8) == 700);
  CHECK(predicted_s(experienced("last_k:99"), 0, 8) == 325);
}

TEST_CASE("last_k:use adds the mean GPU use of these jobs, where it was measured") {
  Profile small;
  small.gpu_util_pct = 20, small.memory_util_pct = 10, small.memory_mib = 1000;
  Profile large;
  large.gpu_util_pct = 60, large.memory_util_pct = 30, large.memory_mib = 5000;
  const auto taught = [&](std::string_view spec) {
    Estimator made = make_estimator(spec, {}).value();
    for (const Profile* profile : std::to_array<const Profile*>({&large, &small, &large, nullptr}))
      made.learn({.job = {.user = 0, .gpus = 8, .profile = profile},
                  .end = SimTime(),
                  .run_time = Seconds(60)});
    return made;
  };
  const auto use_of = [&](std::string_view spec, int gpus) {
    const KnownJob job{.user = 0, .gpus = gpus};
    return taught(spec)({job, SimTime()}).use;
  };
  REQUIRE(use_of("last_k:2:use", 8));
  CHECK(near(use_of("last_k:2:use", 8)->gpu_util_pct, 40, 1e-12, 0));
  CHECK(near(use_of("last_k:2:use", 8)->memory_mib, 3000, 1e-12, 0));
  CHECK(near(use_of("last_k:use", 8)->memory_util_pct, 70.0 / 3, 1e-12, 0));
  CHECK_FALSE(use_of("last_k:use", 4));  // its own sizes alone
  CHECK_FALSE(use_of("last_k", 8));
  CHECK_FALSE(make_estimator("last_k:0:use", {}));
}

TEST_CASE("without a like job last_k falls back to the user, then to the VC, then to an hour") {
  const Estimator last_k = experienced("last_k");
  CHECK(predicted_s(last_k, 0, 4) == 270);  // 1350 / 5
  CHECK(near(predicted_s(last_k, 2, 8), 2350.0 / 6, 1e-12, 0));
  CHECK(predicted_s(make_estimator("last_k", {}).value(), 0, 8) == 3600);
}

TEST_CASE("user_mean is over all GPU counts of the user, then of the VC, then an hour") {
  const Estimator user_mean = experienced("user_mean");
  CHECK(predicted_s(user_mean, 1, 1) == 1000);
  CHECK(predicted_s(user_mean, 0, 8) == 270);
  CHECK(near(predicted_s(user_mean, 7, 8), 2350.0 / 6, 1e-12, 0));
  CHECK(predicted_s(make_estimator("user_mean", {}).value(), 7, 8) == 3600);
}

TEST_CASE("typical is the geometric mean of the VC, an hour without any, whoever asks") {
  const Estimator typical = experienced("typical");
  // 100 x 200 x 300 x 700 x 50 x 1000, the sixth root.
  CHECK(near(predicted_s(typical, 0, 8), std::pow(2.1e14, 1.0 / 6), 1e-12, 0));
  CHECK(predicted_s(typical, 5, 1) == predicted_s(typical, 0, 8));
  CHECK(predicted_s(make_estimator("typical", {}).value(), 0, 8) == 3600);
}

TEST_CASE("a copy of an estimator knows what the original does, and learns by itself") {
  for (const std::string_view spec : {"last_k:1", "user_mean", "typical"}) {
    CAPTURE(spec);
    const Estimator original = experienced(spec);
    const Estimator copy = original;  // NOLINT(performance-unnecessary-copy-initialization)
    const double before_s = predicted_s(original, 0, 8);
    CHECK(predicted_s(copy, 0, 8) == before_s);
    const Trace trace = small_trace({{.gpus = 8, .duration_s = 90'000}});
    copy.learn(finished_job(trace, 0, SimTime()));
    CHECK(predicted_s(copy, 0, 8) > before_s);
    CHECK(predicted_s(original, 0, 8) == before_s);
  }
}

TEST_CASE("a live cluster has no oracles, and the error names what works there") {
  EstimatorInput live;
  live.advisor = [](const AdvisorChoice&) {
    return [](const EnteringJob&) { return Prediction(); };
  };
  for (const EstimatorRow& row : estimator_rows()) {
    CAPTURE(row.name);
    const std::string spec = std::string(row.name) + (row.name == "column" ? ":x" : "");
    const auto made = make_estimator(spec, live);
    CHECK(made.has_value() != row.reads_truth);
    if (made) continue;
    CHECK(made.error().code == ErrorCode::unsupported);
    CHECK(made.error().message.contains("what only a replay knows"));
    CHECK(made.error().message.contains("typical, user_mean, last_k"));
  }
}

TEST_CASE("who watches an estimator sees every answer, and it goes on learning") {
  int seen = 0;
  Estimator watched_one =
      watched(experienced("last_k:1"), [&](const EnteringJob& at, const Prediction& prediction) {
        CHECK(at.job.gpus == 8);
        CHECK(prediction.run_time.count() == (seen == 0 ? 700 : 5));
        ++seen;
      });
  CHECK(predicted_s(watched_one, 0, 8) == 700);
  const Trace trace = small_trace({{.gpus = 8, .duration_s = 5}});
  watched_one.learn(finished_job(trace, 0, SimTime()));
  CHECK(predicted_s(watched_one, 0, 8) == 5);
  CHECK(seen == 2);
}

TEST_CASE("the Advisor needs to know what the jobs are") {
  const Trace trace;
  for (const std::string_view spec : {"advisor", "advisor_paper", "advisor_oracle"}) {
    const auto made = make_estimator(spec, testing::replay_input(trace));
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().code == ErrorCode::invalid);
    CHECK(made.error().message.find("--set workload=") != std::string::npos);
  }
}

TEST_CASE("how many similar jobs count is one or more") {
  const Trace trace;
  const Workload workload;
  for (const std::string_view spec : {"advisor:0", "advisor:x", "advisor_paper:-1"}) {
    const auto made = make_estimator(spec, testing::replay_input(trace, 1, &workload));
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().code == ErrorCode::unsupported);
  }
  CHECK(make_estimator("advisor_paper:10", testing::replay_input(trace, 1, &workload)).has_value());
}

TEST_CASE("oracle_retrieval is the mean of the last finished jobs of the template, or no advice") {
  const Trace trace = small_trace({{0, 1, 100}, {0, 8, 7}, {0, 1, 200}, {0, 1, 600}, {0, 1, 1000}});
  Workload workload;
  workload.template_of_row = {0, 1, 0, 0, 0};
  const auto predict = [&](std::string_view spec, std::size_t ended) {
    const Estimator made = make_estimator(spec, testing::replay_input(trace, 1, &workload)).value();
    for (std::uint32_t row = 0; row < ended; ++row) made.learn(finished_job(trace, row, SimTime()));
    const KnownJob job = known_job(trace, 4);
    return made({job, SimTime()});
  };
  CHECK(near(predict("oracle_retrieval", 4).run_time.count(), 300, 1e-12, 0));
  CHECK(near(predict("oracle_retrieval:2", 4).run_time.count(), 400, 1e-12, 0));
  CHECK_FALSE(predict("oracle_retrieval", 4).blind);
  CHECK(predict("oracle_retrieval", 0).blind);
  CHECK(make_estimator("oracle_retrieval:0", testing::replay_input(trace, 1, &workload))
            .error()
            .code == ErrorCode::unsupported);
  CHECK(make_estimator("oracle_retrieval", testing::replay_input(trace)).error().code ==
        ErrorCode::invalid);
}

TEST_CASE("oracle is the true duration, column what the trace's column says") {
  Trace trace = small_trace({{0, 1, 10}, {0, 1, 20}});
  trace.columns["guess"] = {7, -8.5};
  CHECK(predicted_s(estimator("oracle", trace), trace, 1) == 20);
  CHECK(predicted_s(estimator("column:guess", trace), trace, 1) == -8.5);
}

TEST_CASE("a limit is never below the duration, about three times as long, and as people type it") {
  Random random(1);
  constexpr std::size_t count = 20'000;
  const Trace trace = trace_of(count, [&] { return random.between(0, 200'000); });
  const Trace long_ones = trace_of(count, [] { return 10'000'000; });
  const Estimator limit = estimator("limit", trace);
  const Estimator close = estimator("limit:1.2", trace);
  const Estimator limit_of_long = estimator("limit", long_ones);
  double over = 0;
  for (std::size_t row = 0; row < count; ++row) {
    const auto duration_s = static_cast<double>(trace.jobs[row].duration.count());
    const double limit_s = predicted_s(limit, trace, row);
    REQUIRE(limit_s >= duration_s);
    REQUIRE(predicted_s(close, trace, row) >= duration_s);
    const double step = limit_s <= 7200 ? 900 : limit_s <= 86'400 ? 3600 : 86'400;
    REQUIRE(std::fmod(limit_s, step) == 0);
    over += predicted_s(limit_of_long, long_ones, row) / 10'000'000;
  }
  // Exponential with mean 2 on top of 1: standard error 2 / sqrt(20000) = 0.014.
  CHECK(near(over / count, 3, 0.03, 0));
}

TEST_CASE("limits of factor 1 are the durations, others depend on row and seed alone") {
  const Trace trace = trace_of(20, [] { return 5000; });
  const Trace short_ones = trace_of(4, [] { return 0; });
  CHECK(predicted_s(estimator("limit:1", trace), trace, 3) == 5000);
  CHECK(predicted_s(estimator("limit:1", short_ones), short_ones, 3) == 1);
  const auto limits = [&](std::uint64_t seed) {
    std::vector<double> values;
    for (std::size_t row = 0; row < 20; ++row) {
      values.push_back(predicted_s(estimator("limit", trace, seed), trace, row));
    }
    return values;
  };
  CHECK(limits(1) == limits(1));
  CHECK(limits(1) != limits(2));
}

TEST_CASE("a noisy oracle errs as often and as much as Helios makes it") {
  constexpr std::size_t count = 20'000;
  const Trace trace = trace_of(count, [] { return 1'000'000; });
  const Estimator noisy = estimator("noisy_oracle", trace);
  constexpr double duration_s = 1e6;
  std::array<int, 5> seen{};
  int above = 0;
  for (std::size_t row = 0; row < count; ++row) {
    const double estimate_s = predicted_s(noisy, trace, row);
    REQUIRE(estimate_s >= 1);
    REQUIRE(estimate_s <= 101 * duration_s);
    if (estimate_s > duration_s) {
      ++above;
      const double error = estimate_s / duration_s - 1;
      ++seen[error <= 0.1 ? 0 : error <= 0.5 ? 1 : error <= 1 ? 2 : error <= 10 ? 3 : 4];
    }
  }
  // Five standard errors of a share of 20,000 are at most 0.018.
  CHECK(near(above / double{count}, 0.5, 0.04, 0));
  constexpr std::array shares{0.1, 0.4, 0.2, 0.2, 0.1};
  for (std::size_t i = 0; i < shares.size(); ++i)
    CHECK(std::abs(seen[i] / double{count} - shares[i] / 2) < 0.018);
}

TEST_CASE("a noisy oracle depends on seed and row alone, and is never below a second") {
  const Trace trace = trace_of(50, [] { return 5000; });
  const Trace short_ones = trace_of(4, [] { return 0; });
  const auto errors = [&](std::uint64_t seed) {
    std::vector<double> values;
    for (std::size_t row = 0; row < 50; ++row)
      values.push_back(predicted_s(estimator("noisy_oracle", trace, seed), trace, row));
    return values;
  };
  CHECK(errors(1) == errors(1));
  CHECK(errors(1) != errors(2));
  CHECK(std::ranges::count(errors(1), 1.0) > 0);  // an error of more than the duration, downwards
  CHECK(predicted_s(estimator("noisy_oracle", short_ones), short_ones, 3) == 1);
}

/// Estimates in order of entry, on one node with a queue.
std::vector<double> estimates(std::string_view spec, const std::vector<SmallJob>& jobs) {
  const Trace trace = small_trace(jobs);
  std::vector<double> given;
  SimOptions options;
  options.estimator =
      watched(estimator(spec, trace), [&](const EnteringJob&, const Prediction& prediction) {
        given.push_back(prediction.run_time.count());
      });
  const ClusterSpec cluster = small_cluster({1});
  Scheduler fifo = make_scheduler("fifo", {cluster}, {}).value();
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
    return make_estimator(spec, testing::replay_input(trace)).error();
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
  Workload workload;
  workload.template_of_row = {0};
  for (const EstimatorRow& row : estimator_rows()) {
    CAPTURE(row.name);
    const std::string spec = std::string(row.name) + (row.name == "column" ? ":x" : "");
    CHECK(make_estimator(spec, testing::replay_input(trace, 1, &workload)).has_value());
    CHECK_FALSE(row.summary.empty());
  }
}

}  // namespace
}  // namespace schedmate::policy
