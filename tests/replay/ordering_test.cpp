// SPDX-License-Identifier: Apache-2.0
/// What the loop makes of a cluster that starts jobs itself, by saying who goes first.
#include <doctest/doctest.h>

#include <algorithm>
#include <schedmate/scheduler.hpp>
#include <schedmate/sim.hpp>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "tests/conformance/random_world.hpp"
#include "tests/replay/hosted.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/estimators.hpp"
#include "tests/support/need.hpp"
#include "tests/support/small.hpp"

namespace schedmate {
namespace {

using testing::need;

Scheduler policy(std::string_view name, const ClusterSpec& cluster) {
  return need(make_scheduler(name, {cluster}, {}));
}

live::Ordering::Setup ordering(Estimator estimator) {
  const ClusterSpec none;
  return {.work = policy("schedmate", none).expected_work, .estimator = std::move(estimator)};
}

/// Users whose jobs are alike, short or long, on a cluster that is too small at times.
Trace busy_trace(std::uint64_t seed) {
  Random random(seed);
  std::vector<testing::SmallJob> jobs;
  std::int64_t now_s = 0;
  for (int i = 0; i < 400; ++i) {
    now_s += random.between(0, 120);
    const auto user = static_cast<std::uint32_t>(random.below(10));
    const std::int64_t usual_s = user < 7 ? 60 * (user + 1) : 3000 * user;
    jobs.push_back({.submit_s = now_s,
                    .gpus = static_cast<std::int32_t>(std::int64_t{1} << random.below(4)),
                    .duration_s = usual_s + random.between(0, usual_s / 2),
                    .user = user});
  }
  return testing::small_trace(jobs);
}

TEST_CASE("of jobs of which nothing is known the host's order stays as it is, in random worlds") {
  for (const std::string_view name : {"fifo", "sjf", "backfill_easy", "slurm_backfill"})
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      INFO(name << ", seed " << seed);
      const conformance::World world = conformance::random_world(seed);
      const Scheduler host = policy(name, world.cluster);
      const Estimator estimator = testing::estimator(host.estimator, world.trace);
      const auto alone = testing::hosted(world.trace, world.cluster, {host, estimator});
      const auto beside =
          testing::hosted(world.trace, world.cluster, {host, estimator}, {ordering({})});
      CHECK(beside.counts.calls == 0);
      for (std::size_t row = 0; row < alone.outcomes.size(); ++row) {
        REQUIRE(alone.outcomes[row].start == beside.outcomes[row].start);
        REQUIRE(alone.outcomes[row].nodes == beside.outcomes[row].nodes);
      }
    }
}

TEST_CASE("in shadow the host's schedule stays as it is, and what would be set is on record") {
  const Trace trace = busy_trace(1);
  const ClusterSpec cluster = testing::small_cluster({2}, 8);
  const Scheduler host = policy("fifo", cluster);
  const auto alone = testing::hosted(trace, cluster, {host, {}});
  const auto shadow = testing::hosted(
      trace, cluster, {host, {}}, {ordering(testing::estimator("last_k", trace)), Mode::shadow});
  CHECK(shadow.counts.calls == 0);
  CHECK(shadow.counts.steps[static_cast<std::size_t>(ActionState::shadowed)] > 50);
  for (std::size_t row = 0; row < alone.outcomes.size(); ++row)
    REQUIRE(alone.outcomes[row].start == shadow.outcomes[row].start);
}

TEST_CASE("expected work makes jobs wait less than first in, first out") {
  for (std::uint64_t seed = 1; seed <= testing::cases(8); ++seed) {
    const Trace trace = busy_trace(seed);
    const ClusterSpec cluster = testing::small_cluster({2}, 8);
    for (const std::string_view name : {"fifo", "backfill_easy", "slurm_backfill"}) {
      const Scheduler host = policy(name, cluster);
      const Estimator estimator = testing::estimator(host.estimator, trace);
      const auto alone = testing::hosted(trace, cluster, {host, estimator});
      for (const std::string_view known : {"last_k", "oracle"}) {
        Estimator inner = testing::ByTrace(testing::estimator(known, trace), trace);
        const auto ordered =
            testing::hosted(trace, cluster, {host, estimator}, {ordering(std::move(inner))});
        const double before_s = testing::averages(trace, alone.outcomes).jct_s;
        const double after_s = testing::averages(trace, ordered.outcomes).jct_s;
        INFO(name << " with " << known << ", seed " << seed << ": " << before_s << " s, then "
                  << after_s << " s; " << ordered.counts.calls << " calls");
        // In Slurm's priority an order is one of several factors, and a small one.
        CHECK(after_s < (name == "slurm_backfill" ? 1 : 0.9) * before_s);
        // Raised once or so, and by what waiting adds.
        CHECK(ordered.counts.calls < 10 * trace.jobs.size());
      }
    }
  }
}

TEST_CASE("whoever has waited for a week is not overtaken any more") {
  std::vector<testing::SmallJob> jobs{{.duration_s = 3000},
                                      {.submit_s = 10, .duration_s = 3000},
                                      {.submit_s = 20, .duration_s = 7200, .user = 1},
                                      {.submit_s = 20'000, .duration_s = 4'000'000, .user = 1}};
  for (std::int64_t at_s = 13'000; at_s < 10 * testing::day_s; at_s += 3000)
    jobs.push_back({.submit_s = at_s, .duration_s = 3001});
  std::ranges::sort(jobs, {}, &testing::SmallJob::submit_s);
  const auto longest = std::ranges::max_element(jobs, {}, &testing::SmallJob::duration_s);
  const auto row = static_cast<std::size_t>(longest - jobs.begin());
  const Trace trace = testing::small_trace(jobs);
  const ClusterSpec cluster = testing::small_cluster({1}, 1);
  const Scheduler host = policy("fifo", cluster);
  Estimator oracle = testing::ByTrace(testing::estimator("oracle", trace), trace);
  const auto ordered = testing::hosted(trace, cluster, {host, {}}, {ordering(std::move(oracle))});
  const Seconds waited = ordered.outcomes[row].start - trace.jobs[row].submit;
  CHECK(waited > Seconds(2 * testing::day_s));
  CHECK(waited < Seconds(8 * testing::day_s));
}

}  // namespace
}  // namespace schedmate
