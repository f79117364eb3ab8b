// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <numeric>

#include "elastic/rounds.hpp"
#include "elastic/sia.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/elastic_tables.hpp"
#include "tests/support/near.hpp"

namespace schedmate::elastic {
namespace {

using testing::made_application;
using testing::made_workload;
using testing::near;
using testing::small_cluster;

ElasticOptions failing(double gpu_hours) {
  ElasticOptions options;
  options.failures.gpu_hours = gpu_hours;
  options.failures.checkpoint_s = 600;
  return options;
}

ElasticResult run_failing(const ElasticWorkload& workload, const ElasticOptions& options) {
  const auto result = run_rounds(workload, small_cluster(), sia_policy({}), options);
  REQUIRE_MESSAGE(result.has_value(), result.error().message);
  return *result;
}

double mean_failing_jct_s(const ElasticResult& result) {
  double sum_s = 0;
  for (const ElasticOutcome& job : result.jobs) sum_s += job.completion_s - job.submit_s;
  return sum_s / static_cast<double>(result.jobs.size());
}

TEST_CASE("failures: every job ends, and all GPU seconds that were held are accounted for") {
  for (std::uint64_t seed = 1; seed <= testing::cases(8); ++seed) {
    CAPTURE(seed);
    const ElasticWorkload workload =
        made_workload({made_application("a", 90), made_application("b", 300)}, 12, 300);
    ElasticOptions options = failing(4);
    options.failures.seed = seed;
    std::vector<double> held_s(workload.jobs.size());
    ElasticPolicy sia = sia_policy({});
    // What a job holds from one decision to the next, seen from outside.
    const auto watched = [&](const ElasticView& view) {
      for (const ElasticRun* const run : view.active) {
        const auto job = static_cast<std::size_t>(&run->job() - workload.jobs.data());
        CHECK(run->attained_gpu_s() >= held_s[job]);
        held_s[job] = run->attained_gpu_s();
        CHECK(run->spent().training >= 0);
        CHECK_FALSE(run->away(view.now_s));
      }
      return sia(view);
    };
    const auto result = run_rounds(workload, small_cluster(), watched, options);
    REQUIRE_MESSAGE(result.has_value(), result.error().message);
    int failures = 0;
    for (const ElasticOutcome& job : result->jobs) {
      CHECK(job.completion_s > job.submit_s);
      CHECK(job.restarts >= job.failures);  // each comes back by a restart
      if (job.failures == 0) {
        CHECK(job.spent.lost == 0);
        CHECK(job.spent.hanging == 0);
      } else {
        CHECK(job.spent.hanging > 0);
      }
      failures += job.failures;
    }
    CHECK(failures > 0);
  }
}

/// One job on one fast GPU, so that GPU seconds are seconds.
struct LoneFailing {
  ElasticWorkload workload = made_workload({made_application("a", 600)}, 1, 0);
  [[nodiscard]] ElasticOutcome run(const ElasticOptions& options) const {
    const auto one_gpu = [](const ElasticView&) { return ElasticPlan{{Assignment{1, {1}}}, {{}}}; };
    const auto result = run_rounds(workload, small_cluster(), one_gpu, options);
    REQUIRE_MESSAGE(result.has_value(), result.error().message);
    return result->jobs[0];
  }
};

TEST_CASE("failures: a job loses what it did since its checkpoint, waits and does it again") {
  const LoneFailing lone;
  const ElasticOutcome calm = lone.run({});
  const ElasticOptions options = failing(2);
  const ElasticOutcome stormy = lone.run(options);
  REQUIRE(stormy.failures > 0);
  // The same training is left in the end, to the second.
  CHECK(near(stormy.spent.training, calm.spent.training, 1e-4, 0));
  const double checkpoint_s = options.failures.checkpoint_s + options.interval_s;
  CHECK(stormy.spent.lost <= stormy.failures * checkpoint_s);
  CHECK(stormy.spent.hanging == stormy.failures * options.failures.recovery.detection_s);
  const double away_s = stormy.failures * options.failures.recovery.restart_s;
  const double took_s = stormy.completion_s - stormy.start_s;
  CHECK(took_s >= stormy.spent.held() + away_s);
  CHECK(took_s <= stormy.spent.held() + away_s + stormy.failures * 2 * options.interval_s);
}

TEST_CASE("failures: the handler's restarts are worth something, and a rate of 0 is none") {
  const ElasticWorkload workload =
      made_workload({made_application("a", 90), made_application("b", 300)}, 12, 300);
  ElasticOptions by_hand = failing(4);
  ElasticOptions handled = by_hand;
  handled.failures.recovery.restart_s = 60;
  const ElasticResult slow = run_failing(workload, by_hand);
  const ElasticResult quick = run_failing(workload, handled);
  CHECK(mean_failing_jct_s(quick) < mean_failing_jct_s(slow));
  const ElasticResult none = run_failing(workload, failing(0));
  CHECK(mean_failing_jct_s(none) < mean_failing_jct_s(quick));
  CHECK(std::accumulate(none.jobs.begin(), none.jobs.end(), 0,
                        [](int sum, const ElasticOutcome& job) { return sum + job.failures; }) ==
        0);
}

TEST_CASE("a job that ends early trains that share of its length") {
  LoneFailing lone;
  const double whole_s = lone.run({}).spent.training;
  lone.workload.jobs[0].length = 0.3;
  // Samples are worth less at the end of a training than at its begin.
  CHECK(near(lone.run({}).spent.training, 0.3 * whole_s, 0.1, 0));
}

}  // namespace
}  // namespace schedmate::elastic
