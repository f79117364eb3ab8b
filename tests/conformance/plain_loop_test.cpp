// SPDX-License-Identifier: Apache-2.0
/// Every row of policies.def as a live driver runs it: no trace, jobs that come, end and are taken
/// back, nodes that are drained, fall out under running jobs and come back, and drivers that begin
/// in the middle.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <schedmate/scheduler.hpp>

#include "base/random.hpp"
#include "tests/conformance/subjects.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/near.hpp"
#include "tests/support/need.hpp"
#include "tests/support/plain_cluster.hpp"
#include "tests/support/small.hpp"

namespace schedmate::conformance {
namespace {

using testing::PlainCluster;

constexpr int nodes = 4;
constexpr int per_node = 8;
constexpr std::uint64_t jobs_each = 300;

/// What an Advisor may say: something of two jobs of three, with its distribution.
Estimator stub_advisor(const AdvisorChoice&) {
  return [](const EnteringJob& at) {
    if (at.job.number % 3 == 0) return Prediction{.run_time = FractionalSeconds(60), .blind = true};
    const auto run_time = FractionalSeconds(30.0 + static_cast<double>(at.job.number % 900));
    return Prediction{
        .run_time = run_time,
        .distribution = RunTimeDistribution{run_time, run_time / 2, run_time, run_time * 2},
        .source = 1,
        .use = GpuUse{20, 10, 2000}};
  };
}

const std::array<Profile, 3>& profiles() {
  static const std::array<Profile, 3> made = [] {
    std::array<Profile, 3> table;
    for (std::size_t i = 0; i < table.size(); ++i) {
      table[i].gpu_util_pct = 20 + 30 * static_cast<double>(i);
      table[i].memory_mib = 4000 * (1 + static_cast<double>(i));
      table[i].sharing_score = static_cast<int>(i);
    }
    return table;
  }();
  return made;
}

/// Gangs of up to the whole cluster, in bursts.
PlainCluster::Submission random_job(Random& random, std::uint64_t number, SimTime when) {
  constexpr std::array sizes{1, 1, 2, 4, 8, 8, 12, 16, nodes * per_node};
  PlainCluster::Submission made;
  made.job.number = number;
  made.job.user = static_cast<std::uint32_t>(random.below(4));
  made.job.gpus = sizes[static_cast<std::size_t>(random.below(std::ssize(sizes)))];
  made.job.submit = when;
  if (random.below(4) != 0)
    made.job.profile = &profiles()[static_cast<std::size_t>(random.below(3))];
  made.run_time = Seconds(random.between(1, random.below(5) == 0 ? 4000 : 400));
  return made;
}

/// Each state lasts for a while; at the end all are up.
void break_nodes(Random& random, PlainCluster& cluster, SimTime until) {
  for (std::uint32_t node = 0; node < nodes; ++node) {
    SimTime now = at(random.below(2000));
    for (; now < until; now += Seconds(random.between(1, 6000))) {
      constexpr std::array states{NodeState::up, NodeState::drained, NodeState::down};
      cluster.change(now, node, states[static_cast<std::size_t>(random.below(3))]);
    }
    cluster.change(now, node, NodeState::up);
  }
}

struct Seen {
  std::uint64_t lost_runs = 0, withdrawn = 0;
};

/// One world for a policy; `forecast` counts what is submitted, if there is one.
void drive(const Scheduler& scheduler, std::uint64_t seed, SubmissionForecast* forecast,
           Seen& seen) {
  Random random(mix(seed));
  EstimatorInput input;
  input.advisor = stub_advisor;
  Estimator estimator = watched(testing::need(make_estimator(scheduler, "last_k", input)),
                                [&](const EnteringJob& at, const auto&) {
                                  if (forecast != nullptr && at.now == at.job.submit)
                                    forecast->add(at.now, at.job.gpus);
                                });
  const ClusterSpec spec = testing::small_cluster({nodes}, per_node);
  PlainCluster cluster(spec.partitions.front(), {scheduler.decide, std::move(estimator)});
  std::int64_t now_s = 0;
  for (std::uint64_t i = 0; i < jobs_each; ++i) {
    now_s += random.below(3) == 0 ? random.below(600) : 0;
    cluster.submit(random_job(random, i, at(now_s)));
  }
  break_nodes(random, cluster, at(now_s));
  for (std::uint64_t i = 0; i < jobs_each / 5; ++i)
    cluster.withdraw(at(random.below(now_s)),
                     static_cast<std::uint64_t>(random.below(std::int64_t{jobs_each})));
  std::int64_t steps = 0;
  const std::int64_t handed_over_every = seed % 3 == 0 ? random.between(1, 200) : 2'000'000;
  const auto left = [&] { return jobs_each - cluster.finished() - cluster.withdrawn(); };
  while (left() > 0 && cluster.step() && cluster.complaints().empty()) {
    REQUIRE(++steps < 2'000'000);
    if (steps % handed_over_every == 0) cluster.hand_over(scheduler.decide);
  }
  REQUIRE(cluster.complaints() == std::vector<std::string>());
  REQUIRE(left() == 0);
  seen.lost_runs += cluster.lost_runs();
  seen.withdrawn += cluster.withdrawn();
}

constexpr std::uint64_t worlds = std::max<std::uint64_t>(1, testing::cases(40));

TEST_CASE("a plain loop without any trace drives every policy, and nodes may fall out") {
  const ClusterSpec cluster = testing::small_cluster({nodes}, per_node);
  std::vector<PolicyRow> rows(policy_rows().begin(), policy_rows().end());
  rows.push_back({"aged_sjf", "worked example", policy::make_aged_sjf});
  for (const PolicyRow& row : rows) {
    CAPTURE(row.name);
    Seen seen;
    for (std::uint64_t seed = 0; seed < worlds; ++seed) {
      CAPTURE(seed);
      const auto forecast = seed % 2 == 0 ? std::make_shared<SubmissionForecast>() : nullptr;
      const auto scheduler = make_scheduler(row, {cluster, {}, seed, forecast}, {});
      REQUIRE(scheduler.has_value());
      drive(*scheduler, seed, forecast.get(), seen);
    }
    CHECK(seen.lost_runs > worlds);
    CHECK(seen.withdrawn > worlds);
  }
}

/// When each of 200 jobs started; the policy begins anew every so many instants.
std::map<std::uint64_t, SimTime> starts_of(const Scheduler& scheduler, std::uint64_t seed,
                                           std::int64_t handed_over_every) {
  Random random(mix(seed));
  const ClusterSpec spec = testing::small_cluster({nodes}, per_node);
  std::map<std::uint64_t, FractionalSeconds> run_times;
  std::vector<PlainCluster::Submission> jobs;
  std::int64_t now_s = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    now_s += random.below(3) == 0 ? random.below(600) : 0;
    jobs.push_back(random_job(random, i, at(now_s)));
    run_times[i] = jobs.back().run_time;
  }
  Estimator knows([&](const EnteringJob& entering) {
    return Prediction{.run_time = run_times.at(entering.job.number)};
  });
  PlainCluster cluster(spec.partitions.front(), {scheduler.decide, std::move(knows)});
  for (const auto& job : jobs) cluster.submit(job);
  for (std::int64_t steps = 1; cluster.step(); ++steps)
    if (steps % handed_over_every == 0) cluster.hand_over(scheduler.decide);
  REQUIRE(cluster.complaints() == std::vector<std::string>());
  return cluster.starts();
}

TEST_CASE("a policy without a memory goes on in the middle as if it had been there") {
  const ClusterSpec cluster = testing::small_cluster({nodes}, per_node);
  for (const auto* name : {"fifo", "sjf", "qssf", "backfill_easy"}) {
    CAPTURE(name);
    const Scheduler scheduler = testing::need(make_scheduler(name, {cluster}, {}));
    for (std::uint64_t seed = 0; seed < worlds; ++seed) {
      CAPTURE(seed);
      const auto whole = starts_of(scheduler, seed, 1'000'000);
      CHECK(whole.size() == 200);
      CHECK(starts_of(scheduler, seed, 7) == whole);
    }
  }
}

TEST_CASE("the estimators of a live cluster predict a job that has no row anywhere") {
  EstimatorInput input;
  input.advisor = stub_advisor;
  for (const EstimatorRow& row : estimator_rows()) {
    if (row.reads_truth) continue;
    CAPTURE(row.name);
    const Estimator made = testing::need(make_estimator(row.name, input));
    const KnownJob job{.number = UINT64_MAX - 7, .user = 3, .gpus = 8, .submit = at(50)};
    const Prediction before = made({job, at(50)});
    CHECK(before.run_time.count() > 0);
    made.learn({job, at(950), Seconds(900), EndState::completed});
    const bool learns = row.name == "last_k" || row.name == "user_mean" || row.name == "typical";
    if (learns) CHECK(testing::near(made({job, at(950)}).run_time.count(), 900, 1e-9, 0));
  }
}

}  // namespace
}  // namespace schedmate::conformance
