// SPDX-License-Identifier: Apache-2.0
#include "synth/check.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/near.hpp"

namespace schedmate::synth {
namespace {

using testing::near;

ClusterFigures two_jobs() {
  ClusterFigures cluster;
  cluster.gpu_jobs = 100;
  cluster.mean_run_s = 30;
  cluster.mean_gpus = 2;
  cluster.state_percent = {100, 0, 0};
  cluster.state_gpu_time_s = {7000, 0, 0};
  cluster.gpu_cdf = {{1, 50}, {4, 100}};
  cluster.duration_cdf = {{20, 50}, {40, 100}};
  cluster.types.emplace_back().duration_cdf = cluster.duration_cdf;
  return cluster;
}

SynthJobs drawn(int count) {
  SynthJobs jobs;
  for (int i = 0; i < count; ++i) {
    SynthJob job;
    job.run_s = i % 2 == 0 ? 20 : 40;
    job.gpus = i % 2 == 0 ? 1 : 3;
    jobs.push_back(job);
  }
  return jobs;
}

const CheckRow* find(const std::vector<CheckRow>& rows, std::string_view statistic) {
  const auto row = std::ranges::find(rows, statistic, &CheckRow::statistic);
  return row == rows.end() ? nullptr : &*row;
}

}  // namespace

TEST_CASE("means, shares and points are compared; more than a tenth off does not hold") {
  // 50 jobs of 20 s on one GPU, 50 of 40 s on three: mean run 30, GPUs 2, GPU time 70 s.
  auto rows = check_rows(two_jobs(), drawn(100));
  CHECK(std::ranges::all_of(rows, &CheckRow::holds));
  CHECK(near(find(rows, "mean GPU s")->drawn, 70, 1e-12, 0));
  CHECK(near(find(rows, "GPU CDF %")->drawn, 50, 1e-12, 0));
  CHECK(find(rows, "duration CDF %")->at == 20);

  ClusterFigures other = two_jobs();
  other.mean_run_s = 27;          // 30 is 11 % more
  other.gpu_cdf[0].percent = 55;  // 50 is 5 of the smaller side's 45
  rows = check_rows(other, drawn(100));
  CHECK(!find(rows, "mean run s")->holds());
  CHECK(!find(rows, "GPU CDF %")->holds());
  CHECK(find(rows, "mean GPUs")->holds());
}

TEST_CASE("points with too few jobs, or printed too coarsely, or in doubt, are left out") {
  CHECK(find(check_rows(two_jobs(), drawn(18)), "GPU CDF %") == nullptr);  // nine on a side
  CHECK(find(check_rows(two_jobs(), drawn(20)), "GPU CDF %") != nullptr);
  ClusterFigures doubtful = two_jobs();
  doubtful.gpu_cdf_holds_to = 0.5;
  CHECK(find(check_rows(doubtful, drawn(100)), "GPU CDF %") == nullptr);
  ClusterFigures coarse = two_jobs();
  coarse.gpu_cdf[0].percent = 99.96;
  CHECK(find(check_rows(coarse, drawn(100'000)), "GPU CDF %") == nullptr);
}

TEST_CASE("of each curve the worst point is shown, and every one that does not hold") {
  std::vector<CheckRow> rows = {{"mean", "", 0, 1, 1, 0},
                                {"cdf", "a", 1, 50, 51, 0.02},
                                {"cdf", "a", 2, 60, 63, 0.05},
                                {"cdf", "b", 1, 50, 60, 0.2},
                                {"cdf", "b", 2, 50, 65, 0.3}};
  const auto shown = worst_rows(rows);
  REQUIRE(shown.size() == 4);
  CHECK(shown[1].at == 2);
  CHECK(shown[2].of == "b");
  CHECK(shown[3].of == "b");
}

}  // namespace schedmate::synth
