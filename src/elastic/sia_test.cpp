// SPDX-License-Identifier: Apache-2.0
#include "elastic/sia.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>

#include "elastic/bootstrap.hpp"
#include "elastic/elastic_policies.hpp"
#include "tests/support/elastic_tables.hpp"
#include "tests/support/near.hpp"

namespace schedmate::elastic {
namespace {

using testing::made_application;
using testing::made_workload;
using testing::near;
using testing::small_cluster;

ElasticWorkload busy_workload() {
  return made_workload({made_application("a", 40), made_application("b", 90)}, 24, 120);
}

ElasticResult run_sia(const ElasticWorkload& workload, const ElasticOptions& options = {},
                      std::uint64_t ties = 0) {
  auto result = run_rounds(workload, small_cluster(), sia_policy({.ties = ties}), options);
  REQUIRE_MESSAGE(result.has_value(), result.error().message);
  return *result;
}

double mean_jct_s(const ElasticResult& result) {
  double sum = 0;
  for (const ElasticOutcome& job : result.jobs) sum += job.completion_s - job.submit_s;
  return sum / static_cast<double>(result.jobs.size());
}

TEST_CASE("sia: in every round, no GPU stays idle that a job could use") {
  // Capacities and pinned jobs are checked by run_rounds itself.
  const ElasticWorkload workload = busy_workload();
  ElasticPolicy policy = sia_policy({});
  int rounds = 0;
  const auto watched = [&](const ElasticView& view) {
    const ElasticPlan plan = policy(view);
    std::int32_t used = 0;
    bool waits = false;
    for (const Assignment& held : plan.held) {
      used += replicas_of(held.placement);
      waits = waits || held.placement.empty();
    }
    CHECK_FALSE((waits && used < view.cluster.gpus()));
    ++rounds;
    return plan;
  };
  REQUIRE(run_rounds(workload, small_cluster(), watched, {}).has_value());
  CHECK(rounds > 30);
}

TEST_CASE("sia: equal inputs give equal results; ties broken otherwise give others of the kind") {
  const ElasticWorkload workload = busy_workload();
  const ElasticResult first = run_sia(workload);
  const ElasticResult again = run_sia(workload);
  const ElasticResult other = run_sia(workload, {}, 7);
  bool differs = false;
  for (std::size_t i = 0; i < first.jobs.size(); ++i) {
    CHECK(first.jobs[i].completion_s == again.jobs[i].completion_s);
    differs = differs || first.jobs[i].completion_s != other.jobs[i].completion_s;
  }
  CHECK(differs);
  CHECK(near(mean_jct_s(other), mean_jct_s(first), 0.15, 0));
}

TEST_CASE("sia: a job alone grows by doubling up to what its batch allows") {
  const ElasticWorkload workload = made_workload({made_application("a", 240)}, 1, 0);
  ElasticPolicy policy = sia_policy({});
  std::vector<std::int32_t> gpus;
  const auto watched = [&](const ElasticView& view) {
    ElasticPlan plan = policy(view);
    gpus.push_back(replicas_of(plan.held[0].placement));
    return plan;
  };
  REQUIRE(run_rounds(workload, small_cluster(), watched, {}).has_value());
  REQUIRE(gpus.size() > 10);
  CHECK(gpus[0] == 1);
  std::int32_t most = 1;
  for (const std::int32_t each : gpus) {
    CHECK(each <= 2 * most);
    most = std::max(most, each);
  }
  CHECK(most >= 8);
}

TEST_CASE("sia: profiling costs time, what jobs of the same kind showed saves it") {
  const ElasticWorkload workload = busy_workload();
  ElasticOptions measured;
  measured.admit = bootstrap({.profile_s = 120});
  ElasticOptions matched;
  matched.admit = bootstrap({.profile_s = 120, .match = {MatchRule::perfect}});
  const double free_s = mean_jct_s(run_sia(workload));
  const double measured_s = mean_jct_s(run_sia(workload, measured));
  const double matched_s = mean_jct_s(run_sia(workload, matched));
  CHECK(measured_s > free_s);
  CHECK(matched_s < measured_s);
}

/// Its steps take far longer than those of made_application.
Application unlike(double minutes) {
  const ElasticCluster cluster = small_cluster();
  Application other = made_application("other", minutes);
  for (std::size_t type = 0; type < cluster.types.size(); ++type)
    other.tables[type] =
        testing::made_steps({0.2, 0.02, 0.5, 0.1, 0.2, 0.05, 1}, cluster.types[type], 1);
  return other;
}

TEST_CASE("a job heals from a wrong match: what it inherited is forgotten at its first step") {
  const ElasticWorkload workload = made_workload({made_application("a", 40), unlike(40)}, 12, 240);
  ElasticOptions options;
  options.admit = bootstrap({.profile_s = 60, .match = {MatchRule::wrong}});
  ElasticPolicy policy = sia_policy({});
  int forgot = 0;
  int believed = 0;  // jobs that have run for minutes and still hold what they inherited
  const auto watched = [&](const ElasticView& view) {
    for (const ElasticRun* const run : view.active) {
      const bool inherits = std::ranges::any_of(
          run->profiles(), [](const TypeProfile& profile) { return profile.inherited > 0; });
      if (run->has_forgotten()) ++forgot;
      if (inherits && run->attained_gpu_s() > 300) ++believed;
    }
    return policy(view);
  };
  REQUIRE(run_rounds(workload, small_cluster(), watched, options).has_value());
  CHECK(forgot > 0);
  CHECK(believed == 0);
}

TEST_CASE("matches that turn out wrong are soon taken over no more, unless nobody looks") {
  const ElasticWorkload workload = made_workload({made_application("a", 20), unlike(20)}, 60, 300);
  const auto matched = [&](const MatchOptions& match) {
    ElasticOptions options;
    options.admit = bootstrap({.match = match});
    const ElasticResult result = run_sia(workload, options);
    for (std::uint32_t i = 0; i < result.jobs.size(); ++i)
      for (const std::uint32_t from : result.jobs[i].matches) CHECK(from < i);
    return std::ranges::count_if(result.jobs,
                                 [](const ElasticOutcome& job) { return !job.matches.empty(); });
  };
  const auto right = matched({MatchRule::perfect});
  const auto wrong = matched({MatchRule::wrong});
  const auto unguarded = matched({.rule = MatchRule::wrong, .guarded = false});
  CHECK(right > 50);
  CHECK(unguarded > 50);
  CHECK(wrong < 15);
  CHECK(wrong >= 4);
}

PolicyOptions given(const std::string& key, const std::string& value) {
  return PolicyOptions(std::map<std::string, std::string, std::less<>>{{key, value}});
}

TEST_CASE("sia: settings out of range and unknown ones are reported") {
  const auto wrong = make_elastic_scheduler("sia", given("power", "0"), 0);
  REQUIRE_FALSE(wrong.has_value());
  CHECK(wrong.error().message.contains("power=0"));
  const auto unknown = make_elastic_scheduler("sia", given("projct", "true"), 0);
  REQUIRE_FALSE(unknown.has_value());
  CHECK(unknown.error().message.contains("project"));
  CHECK(make_elastic_scheduler("sja", {}, 0).error().code == ErrorCode::not_found);
}

}  // namespace
}  // namespace schedmate::elastic
