// SPDX-License-Identifier: Apache-2.0
#include "elastic/pollux.hpp"

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

PolluxOptions quick_pollux(std::uint64_t seed = 0) {
  return {.search = {.population = 24, .generations = 24, .seed = seed}};
}

// Capacities, pinned jobs, and that all steps were measured, are checked by run_rounds itself.
ElasticResult run_pollux(const ElasticWorkload& workload, const ElasticPolicy& policy,
                         const ElasticOptions& options = {}) {
  auto result = run_rounds(workload, small_cluster(), policy, options);
  REQUIRE_MESSAGE(result.has_value(), result.error().message);
  CHECK(result->jobs.size() == workload.jobs.size());
  return *result;
}

ElasticWorkload mixed_workload() {
  return made_workload({made_application("a", 40), made_application("b", 90)}, 20, 130);
}

TEST_CASE("pollux: a workload ends, and equal seeds give equal results") {
  const ElasticWorkload workload = mixed_workload();
  const ElasticResult first = run_pollux(workload, pollux_policy(quick_pollux()));
  const ElasticResult again = run_pollux(workload, pollux_policy(quick_pollux()));
  const ElasticResult other = run_pollux(workload, pollux_policy(quick_pollux(7)));
  bool differs = false;
  for (std::size_t i = 0; i < first.jobs.size(); ++i) {
    CHECK(first.jobs[i].completion_s == again.jobs[i].completion_s);
    differs = differs || first.jobs[i].completion_s != other.jobs[i].completion_s;
  }
  CHECK(differs);
}

TEST_CASE("pollux: a job alone grows by doubling up to the GPUs of a type, and then stays") {
  const ElasticWorkload workload = made_workload({made_application("a", 240)}, 1, 30);
  ElasticPolicy policy = pollux_policy(quick_pollux());
  std::vector<std::int32_t> gpus;
  const auto watched = [&](const ElasticView& view) {
    ElasticPlan plan = policy(view);
    gpus.push_back(replicas_of(plan.held[0].placement));
    return plan;
  };
  const ElasticResult result = run_pollux(workload, watched);
  std::int32_t most = 1;
  for (const std::int32_t each : gpus) {
    CHECK(each <= 2 * most);
    most = std::max(most, each);
  }
  CHECK(most > 4);
  CHECK(most <= 16);
  CHECK(result.jobs[0].restarts <= 10);
}

TEST_CASE("pollux: two equal jobs share fairly") {
  const ElasticWorkload workload = made_workload({made_application("a", 240)}, 2, 0);
  ElasticPolicy policy = pollux_policy(quick_pollux());
  std::vector<double> gpus(2, 0);
  const auto watched = [&](const ElasticView& view) {
    ElasticPlan plan = policy(view);
    if (view.active.size() < 2) return plan;
    for (std::size_t i = 0; i < 2; ++i) gpus[i] += replicas_of(plan.held[i].placement);
    return plan;
  };
  run_pollux(workload, watched);
  CHECK(gpus[0] > 0.6 * gpus[1]);
  CHECK(gpus[1] > 0.6 * gpus[0]);
}

TEST_CASE("pollux: jobs are measured on one GPU at a time, then train") {
  ElasticOptions options;
  options.admit = bootstrap({.profile_s = 120});
  ElasticPolicy policy = pollux_policy(quick_pollux());
  int measured = 0;
  const auto watched = [&](const ElasticView& view) {
    ElasticPlan plan = policy(view);
    for (std::size_t i = 0; i < plan.measured.size(); ++i) {
      CHECK(plan.measured[i].size() <= 1);
      CHECK((plan.measured[i].empty() || plan.held[i].placement.empty()));
      measured += static_cast<int>(plan.measured[i].size());
    }
    return plan;
  };
  const ElasticWorkload workload = mixed_workload();
  const ElasticResult result = run_pollux(workload, watched, options);
  // Two rounds of a minute on each of two types.
  CHECK(measured == 4 * static_cast<int>(workload.jobs.size()));
  for (const ElasticOutcome& job : result.jobs) CHECK(near(job.spent.measuring, 240, 1e-12, 0));
}

TEST_CASE("pollux: a job gets no GPUs of a type that it was not measured on") {
  Application only_fast = made_application("f", 60);
  only_fast.tables[0].reset();
  const ElasticWorkload workload = made_workload({only_fast, made_application("a", 60)}, 10, 70);
  ElasticPolicy policy = pollux_policy(quick_pollux());
  const auto watched = [&](const ElasticView& view) {
    ElasticPlan plan = policy(view);
    for (std::size_t i = 0; i < view.active.size(); ++i)
      CHECK((plan.held[i].placement.empty() ||
             view.active[i]->application().tables[plan.held[i].type]));
    return plan;
  };
  run_pollux(workload, watched);
}

TEST_CASE("pollux: jobs that cannot be resized have the GPUs that they asked for, or none") {
  ElasticWorkload workload = made_workload({made_application("a", 40)}, 9, 130);
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    if (i % 3 == 0) continue;
    workload.jobs[i].kind = i % 3 == 1 ? ElasticKind::rigid : ElasticKind::scale_gpus;
    workload.jobs[i].replicas = 3;
    workload.jobs[i].batch = 192;
  }
  ElasticPolicy policy = pollux_policy(quick_pollux());
  const auto watched = [&](const ElasticView& view) {
    ElasticPlan plan = policy(view);
    for (std::size_t i = 0; i < view.active.size(); ++i) {
      const std::int32_t gpus = replicas_of(plan.held[i].placement);
      const ElasticKind kind = view.active[i]->job().kind;
      CHECK((kind != ElasticKind::rigid || gpus == 0 || gpus == 3));
      CHECK((kind != ElasticKind::scale_gpus || gpus <= 3));
    }
    return plan;
  };
  run_pollux(workload, watched);
}

TEST_CASE("pollux: a job on GPUs that it keeps is not restarted") {
  ElasticPolicy policy = pollux_policy(quick_pollux());
  std::map<const ElasticRun*, Assignment> before;
  int kept = 0;
  int moved = 0;
  const auto watched = [&](const ElasticView& view) {
    ElasticPlan plan = policy(view);
    for (std::size_t i = 0; i < view.active.size(); ++i) {
      if (plan.held[i].placement.empty()) continue;
      CHECK(plan.held[i].placement == normalised(plan.held[i].placement));
      const auto found = before.find(view.active[i]);
      if (found != before.end()) ++(found->second == plan.held[i] ? kept : moved);
      before[view.active[i]] = plan.held[i];
    }
    return plan;
  };
  run_pollux(mixed_workload(), watched);
  CHECK(kept > 5 * moved);
}

PolicyOptions setting(const std::string& key, const std::string& value) {
  return PolicyOptions(std::map<std::string, std::string, std::less<>>{{key, value}});
}

TEST_CASE("pollux: settings out of range and unknown ones are reported") {
  const auto small = make_elastic_scheduler("pollux", setting("population", "1"), 0);
  REQUIRE_FALSE(small.has_value());
  CHECK(small.error().message.contains("population=1"));
  const auto none = make_elastic_scheduler("pollux", setting("generations", "0"), 0);
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().code == ErrorCode::unsupported);
  const auto steep = make_elastic_scheduler("pollux", setting("power", "-99"), 0);
  REQUIRE_FALSE(steep.has_value());
  CHECK(steep.error().message.contains("power=-99"));
  CHECK_FALSE(make_elastic_scheduler("pollux", setting("generation", "5"), 0).has_value());
  CHECK(make_elastic_scheduler("pollux", setting("generations", "5"), 0).has_value());
}

}  // namespace
}  // namespace schedmate::elastic
