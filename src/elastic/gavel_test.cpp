// SPDX-License-Identifier: Apache-2.0
#include "elastic/gavel.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "elastic/elastic_policies.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/elastic_tables.hpp"
#include "tests/support/near.hpp"

namespace schedmate::elastic {
namespace {

using testing::made_application;
using testing::made_workload;
using testing::near;
using testing::small_cluster;

/// Jobs that ask for 4, 8 and 16 GPUs in turn, one every two minutes.
ElasticWorkload crowd(double restart_s = 30) {
  ElasticWorkload workload =
      made_workload({made_application("a", 90), made_application("b", 300)}, 20, 120);
  for (Application& application : workload.applications) application.traits.restart_s = restart_s;
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    workload.jobs[i].kind = ElasticKind::rigid;
    workload.jobs[i].replicas = 4 << (i % 3);
  }
  return workload;
}

/// Calls `look` with what is decided in each round. Capacities and restarting jobs are checked by
/// the rounds themselves.
template <class Look>
ElasticResult watch_gavel(const ElasticWorkload& workload, const GavelOptions& options, Look look) {
  ElasticPolicy policy = gavel_policy(options);
  const auto watched = [&](const ElasticView& view) {
    ElasticPlan plan = policy(view);
    look(view, plan);
    return plan;
  };
  auto result = run_rounds(workload, small_cluster(), watched, {});
  REQUIRE_MESSAGE(result.has_value(), result.error().message);
  return *result;
}

ElasticResult run_gavel(const ElasticWorkload& workload, const GavelOptions& options) {
  return watch_gavel(workload, options, [](const ElasticView&, const ElasticPlan&) {});
}

TEST_CASE("gavel: the faster type goes to the job that gains most by it") {
  const std::vector<GavelKind> kinds{{1, 8, {1, 10}}, {1, 8, {5, 6}}};
  const std::vector<std::int32_t> capacity{8, 8};
  CHECK(gavel_shares(kinds, capacity) == std::vector<double>{0, 1, 1, 0});
}

TEST_CASE("gavel: jobs of one kind have equal shares, types that are too small none") {
  // Three jobs of 8 GPUs, 12 GPUs: half of the time each. Where a job can't run it has no share.
  const std::vector<double> shares =
      gavel_shares(std::vector<GavelKind>{{3, 8, {4, 0}}}, std::vector<std::int32_t>{12, 4});
  CHECK(near(shares[0], 0.5, 1e-12, 0));
  CHECK(shares[1] == 0);
}

TEST_CASE("gavel: no type is shared out twice, and no job has more time than there is") {
  Random random(5);
  const std::vector<std::int32_t> capacity{24, 16, 24};
  for (std::uint64_t i = 0; i < testing::cases(300); ++i) {
    std::vector<GavelKind> kinds(1 + static_cast<std::size_t>(random.below(12)));
    for (GavelKind& kind : kinds) {
      kind.jobs = static_cast<std::int32_t>(random.between(1, 9));
      kind.gpus = static_cast<std::int32_t>(random.between(1, 16));
      for (std::size_t type = 0; type < capacity.size(); ++type)
        kind.steps_per_s.push_back(random.below(4) == 0 ? 0 : 20 * random.uniform());
    }
    const std::vector<double> shares = gavel_shares(kinds, capacity);
    std::vector<double> used(capacity.size());
    double all = 0;
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      double all_types = 0;
      for (std::size_t type = 0; type < capacity.size(); ++type) {
        const double share = shares[k * capacity.size() + type];
        CHECK(share >= 0);
        CHECK((share == 0 || kinds[k].steps_per_s[type] > 0));
        all_types += share;
        used[type] += share * kinds[k].jobs * kinds[k].gpus;
      }
      CHECK(all_types < 1 + 1e-6);
      all += all_types;
    }
    CHECK(all > 0);
    for (std::size_t type = 0; type < capacity.size(); ++type)
      CHECK(used[type] < capacity[type] + 1e-6);
  }
}

TEST_CASE("gavel: between decisions nothing changes, after one no GPUs stay idle that fit a job") {
  int decisions = 0;
  int between = 0;
  double last = -1;
  const auto look = [&](const ElasticView& view, const ElasticPlan& plan) {
    const double round = std::floor(view.now_s / 360);
    const bool decides = round != last;
    last = round;
    ++(decides ? decisions : between);
    std::vector<std::int32_t> free{16, 16};
    for (const Assignment& held : plan.held)
      if (!held.placement.empty()) free[held.type] -= replicas_of(held.placement);
    for (std::size_t i = 0; i < view.active.size(); ++i) {
      if (!decides)
        CHECK(plan.held[i] == view.active[i]->held());
      else if (plan.held[i].placement.empty())
        CHECK(view.active[i]->job().replicas > std::max(free[0], free[1]));
    }
  };
  const ElasticWorkload workload = crowd();
  CHECK(watch_gavel(workload, {}, look).jobs.size() == workload.jobs.size());
  CHECK(decisions > 20);
  CHECK(between > 3 * decisions);
}

TEST_CASE("gavel: equal jobs that don't fit together take turns") {
  ElasticWorkload workload = made_workload({made_application("a", 600)}, 3, 0);
  for (ElasticJob& job : workload.jobs) job.replicas = 16;
  for (ElasticJob& job : workload.jobs) job.kind = ElasticKind::rigid;
  std::vector<double> attained;
  const auto look = [&](const ElasticView& view, const ElasticPlan&) {
    if (view.active.size() < 3) return;
    attained.clear();
    for (const ElasticRun* const run : view.active) attained.push_back(run->attained_gpu_s());
  };
  const ElasticResult result = watch_gavel(workload, {}, look);
  // Within two rounds of 16 GPUs when the first ends.
  const auto [least, most] = std::ranges::minmax(attained);
  CHECK(least > 5 * 360 * 16);
  CHECK(most - least <= 2 * 360 * 16);
  for (const ElasticOutcome& job : result.jobs) CHECK(job.restarts > 2);
}

TEST_CASE("gavel: a job that restarts for longer than a round keeps its GPUs") {
  const ElasticWorkload workload = crowd(200);
  int pinned = 0;
  const auto look = [&](const ElasticView& view, const ElasticPlan&) {
    pinned += static_cast<int>(std::ranges::count_if(view.active, &ElasticRun::pinned));
  };
  watch_gavel(workload, {.round_s = 60}, look);
  CHECK(pinned > 20);
}

TEST_CASE("gavel: keeping the type saves restarts") {
  const auto restarts = [](const ElasticResult& result) {
    std::int32_t sum = 0;
    for (const ElasticOutcome& job : result.jobs) sum += job.restarts;
    return sum;
  };
  const ElasticWorkload workload = crowd();
  const std::int32_t as_published = restarts(run_gavel(workload, {}));
  CHECK(restarts(run_gavel(workload, {.keep_type = true})) < as_published);
}

TEST_CASE("gavel: equal inputs give equal results, ties broken otherwise give others") {
  const ElasticWorkload workload = crowd();
  const ElasticResult first = run_gavel(workload, {});
  const ElasticResult again = run_gavel(workload, {});
  const ElasticResult other = run_gavel(workload, {.ties = 7});
  bool differs = false;
  for (std::size_t i = 0; i < first.jobs.size(); ++i) {
    CHECK(first.jobs[i].completion_s == again.jobs[i].completion_s);
    differs = differs || first.jobs[i].completion_s != other.jobs[i].completion_s;
  }
  CHECK(differs);
}

TEST_CASE("gavel: a round that makes no sense is reported") {
  for (const char* const value : {"0", "-5", "1e9"}) {
    PolicyOptions options(std::map<std::string, std::string, std::less<>>{{"round_s", value}});
    const auto policy = make_elastic_gavel(options, 0);
    REQUIRE_FALSE(policy.has_value());
    CHECK(policy.error().code == ErrorCode::unsupported);
    CHECK(policy.error().message.contains("round_s="));
  }
}

}  // namespace
}  // namespace schedmate::elastic
