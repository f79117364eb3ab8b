// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <schedmate/scheduler.hpp>
#include <schedmate/sim.hpp>

#include "tests/support/small.hpp"

namespace schedmate::policy {
namespace {

using testing::SmallJob;
using Settings = std::map<std::string, std::string, std::less<>>;

const Settings first_come{{"weight_fairshare", "0"}, {"weight_job_size", "0"}};

std::vector<std::int64_t> starts(const std::vector<SmallJob>& jobs, int nodes,
                                 Settings settings = {}) {
  settings.insert(first_come.begin(), first_come.end());
  const Trace trace = testing::small_trace(jobs);
  const ClusterSpec cluster = testing::small_cluster({nodes}, 4);
  const auto scheduler = make_scheduler("slurm_backfill", {cluster}, PolicyOptions(settings));
  std::vector<std::int64_t> result;
  const auto played = simulate(trace, cluster, *scheduler, {});
  for (const JobOutcome& outcome : played->outcomes) {
    REQUIRE(outcome.status == JobStatus::finished);
    result.push_back(seconds_of(outcome.start));
  }
  return result;
}

// One node of 4 GPUs. j0 holds 3 until 600; j1 (2 GPUs) is reserved for then, beside which j2 has
// room. Slurm keeps the whole node for j1.
TEST_CASE("a reservation takes the GPUs that it needs, or all of its nodes") {
  const std::vector<SmallJob> jobs{{0, 3, 600}, {5, 2, 60}, {10, 1, 6000}};
  CHECK(starts(jobs, 1, {{"bf_interval", "1"}}) == std::vector<std::int64_t>{0, 600, 10});
  CHECK(starts(jobs, 1, {{"bf_interval", "1"}, {"bf_whole_nodes", "true"}}) ==
        std::vector<std::int64_t>{0, 600, 600});
  CHECK(starts({{0, 3, 600}, {5, 2, 60}, {10, 1, 500}}, 1,
               {{"bf_interval", "1"}, {"bf_whole_nodes", "true"}}) ==
        std::vector<std::int64_t>{0, 600, 10});
}

// One node of 4 GPUs. j0 holds 3 until 600; j1 (4 GPUs) is reserved for then. j2 comes at 10 and
// would be over in time, but the pass of j1's arrival was at 5: the next one is at 35.
TEST_CASE("a job is filled in by the next pass, not when it comes") {
  const std::vector<SmallJob> jobs{{0, 3, 600}, {5, 4, 60}, {10, 1, 60}};
  CHECK(starts(jobs, 1) == std::vector<std::int64_t>{0, 600, 35});
  CHECK(starts(jobs, 1, {{"bf_interval", "1"}}) == std::vector<std::int64_t>{0, 600, 10});
}

// j2 begins at 35 and lasts until 635: it holds a part of the slot from 600 on, which is j1's. It
// starts with j1 out of the way. One that ends at 600 sharp would do.
TEST_CASE("a slot of which a part is busy is busy") {
  CHECK(starts({{0, 3, 600}, {5, 4, 60}, {10, 1, 566}}, 1) ==
        std::vector<std::int64_t>{0, 600, 660});
  CHECK(starts({{0, 3, 600}, {5, 4, 60}, {10, 1, 565}}, 1) ==
        std::vector<std::int64_t>{0, 600, 35});
}

// Two nodes. j0 holds node 0 for 2 h. j1 needs both, and comes free beyond the window of one hour:
// it gets no reservation, so j2 may hold node 1 for 5 h.
TEST_CASE("beyond the window nothing is reserved") {
  const std::vector<SmallJob> jobs{{0, 4, 7200}, {5, 8, 60}, {5, 4, 18'000}};
  CHECK(starts(jobs, 2) == std::vector<std::int64_t>{0, 7200, 7260});
  CHECK(starts(jobs, 2, {{"bf_window", "60"}}) == std::vector<std::int64_t>{0, 18'005, 5});
}

// j1 waits for j0. User 1 has two short jobs that could go first; one a pass is tested, and the
// second when something has changed: the first one's end at 65 + 30.
TEST_CASE("no more than bf_max_job_user jobs of a user are tested in a pass") {
  const std::vector<SmallJob> jobs{{0, 2, 600}, {5, 4, 60}, {5, 1, 60, 0, 1}, {5, 1, 60, 0, 1}};
  CHECK(starts(jobs, 1) == std::vector<std::int64_t>{0, 600, 5, 5});
  CHECK(starts(jobs, 1, {{"bf_max_job_user", "1"}}) == std::vector<std::int64_t>{0, 600, 5, 65});
}

// Two nodes. j2 and j3 need one each, at 600 when j0 and j1 end; j4 would hold the GPU that is left
// of node 1 for two hours. It does so where only j2 has a reservation.
TEST_CASE("no more than bf_job_part_count_reserve jobs have a reservation") {
  const std::vector<SmallJob> jobs{{0, 4, 600}, {0, 3, 600}, {5, 4, 60}, {5, 4, 60}, {5, 1, 7200}};
  CHECK(starts(jobs, 2) == std::vector<std::int64_t>{0, 0, 600, 600, 660});
  CHECK(starts(jobs, 2, {{"bf_job_part_count_reserve", "2"}}) == starts(jobs, 2));
  CHECK(starts(jobs, 2, {{"bf_job_part_count_reserve", "1"}}) ==
        std::vector<std::int64_t>{0, 0, 600, 660, 5});
}

TEST_CASE("settings out of Slurm's bounds are refused, with the bounds") {
  const Trace trace = testing::small_trace({{0, 1, 1}});
  const ClusterSpec cluster = testing::small_cluster({1});
  const auto error_of = [&](const Settings& settings) {
    const auto made = make_scheduler("slurm_backfill", {cluster}, PolicyOptions(settings));
    return made ? std::string("made") : made.error().message;
  };
  CHECK(error_of({}) == "made");
  CHECK(error_of({{"bf_interval", "0"}}).find("bf_interval=0: must be 1 to 10800") !=
        std::string::npos);
  CHECK(error_of({{"bf_window", "43201"}}).find("1 to 43200") != std::string::npos);
  CHECK(error_of({{"bf_resolution", "x"}}).find("bf_resolution=x") != std::string::npos);
  CHECK(error_of({{"favor_small", "maybe"}}).find("favor_small=maybe") != std::string::npos);
  CHECK(error_of({{"max_age_d", "-1"}, {"bf_interval", "30"}}).find("max_age_d=-1") !=
        std::string::npos);
}

TEST_CASE("slurm_backfill plans with the user's limit unless configured otherwise") {
  const Trace trace = testing::small_trace({{0, 1, 1}});
  const ClusterSpec cluster = testing::small_cluster({1});
  CHECK(make_scheduler("slurm_backfill", {cluster}, {})->estimator == "limit");
}

}  // namespace
}  // namespace schedmate::policy
