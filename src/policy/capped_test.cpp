// SPDX-License-Identifier: Apache-2.0
#include "policy/capped.hpp"

#include <doctest/doctest.h>

#include <schedmate/scheduler.hpp>

#include "tests/support/advised.hpp"
#include "tests/support/near.hpp"
#include "tests/support/small.hpp"

namespace schedmate::policy {
namespace {

using testing::near;
using testing::predicted_of;
using testing::small_trace;

/// Two jobs, with what is estimated of them and what caps that.
Trace two_jobs() {
  Trace trace = small_trace({{.submit_s = 0, .gpus = 1, .duration_s = 100},
                             {.submit_s = 10, .gpus = 1, .duration_s = 100}});
  trace.columns = {{"estimated", {500, 500}}, {"limit", {300, 900}}};
  return trace;
}

Estimator capped_by(const Trace& trace, const std::string& estimator, const std::string& cap) {
  Scheduler scheduler;
  scheduler.estimator = estimator;
  scheduler.cap = cap;
  return make_estimator(scheduler, "", testing::replay_input(trace)).value();
}

TEST_CASE("no estimate is above its cap, and one below it stays") {
  const Trace trace = two_jobs();
  const Estimator made = capped_by(trace, "column:estimated", "column:limit");
  CHECK(predicted_of(made, trace, 0).run_time.count() == 300);
  CHECK(predicted_of(made, trace, 1).run_time.count() == 500);
}

TEST_CASE("a distribution moves with the estimate that is capped") {
  const Estimator wide([](const EnteringJob&) {
    using Time = FractionalSeconds;
    return Prediction{
        .run_time = Time(400),
        .distribution = RunTimeDistribution{Time(400), Time(200), Time(400), Time(800)},
        .expected = Time(350)};
  });
  const Estimator most([](const EnteringJob&) { return Prediction{FractionalSeconds(100)}; });
  const Trace trace = two_jobs();
  const Prediction prediction = predicted_of(capped(wide, most), trace, 0);
  CHECK(prediction.run_time.count() == 100);
  CHECK(prediction.expected.count() == 100);
  REQUIRE(prediction.distribution);
  CHECK(near(prediction.distribution->p90.count(), 200, 1e-12, 0));
}

TEST_CASE("both learn of jobs that end") {
  const Trace trace = two_jobs();
  const Estimator made = capped_by(trace, "last_k", "user_mean");
  CHECK(predicted_of(made, trace, 1).run_time.count() > 100);
  made.learn(finished_job(trace, 0, at(100)));
  CHECK(predicted_of(made, trace, 1).run_time.count() == 100);
}

TEST_CASE("a cap that nobody can know here is an error, and none is none") {
  const ClusterSpec cluster;
  const auto scheduler_with = [&](const std::string& cap) {
    PolicyOptions options;
    options.add_defaults("cap=" + cap);
    return make_scheduler("schedmate", {.cluster = cluster}, std::move(options)).value();
  };
  CHECK(scheduler_with("none").cap.empty());
  CHECK(scheduler_with("limit").cap == "limit");
  CHECK_FALSE(make_estimator(scheduler_with("limit"), "", {}));
  CHECK_FALSE(make_estimator(scheduler_with("wishes"), "", {}));
}

}  // namespace
}  // namespace schedmate::policy
