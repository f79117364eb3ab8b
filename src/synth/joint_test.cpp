// SPDX-License-Identifier: Apache-2.0
#include "synth/joint.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "synth/prior.hpp"
#include "tests/support/near.hpp"
#include "tests/support/synth_tables.hpp"

namespace schedmate::synth {
namespace {

using testing::near;

/// Weighted mean of what `value` says of (type, state, GPUs, seconds).
template <class Value>
double mean_of(const Joint& joint, Value value) {
  double mean = 0;
  for (std::size_t i = 0; i < joint.cells.size(); ++i) {
    const JointCell& cell = joint.cells[i];
    mean += joint.weights[i] *
            value(cell, joint.gpus[cell.gpus], joint.slots[cell.type][cell.slot].mean());
  }
  return mean;
}

void check_moments(const std::string& name) {
  const Published published = bundled_figures(name);
  const ClusterFigures& cluster = published.cluster;
  const Joint joint = fit_joint(published);
  const auto run = [](const JointCell&, double, double run_s) { return run_s; };
  const auto gpus = [](const JointCell&, double count, double) { return count; };
  const auto both = [](const JointCell&, double count, double run_s) { return count * run_s; };
  CHECK(near(std::accumulate(joint.weights.begin(), joint.weights.end(), 0.0), 1, 1e-12, 0));
  CHECK(near(mean_of(joint, run), cluster.mean_run_s, 0.01, 0));
  CHECK(near(mean_of(joint, gpus), cluster.mean_gpus, 0.01, 0));
  const double gpu_s = mean_of(joint, both);
  CHECK(near(gpu_s, cluster.mean_gpu_s(), 0.01, 0));
  CHECK(near(joint.mean_gpu_s(1e9), gpu_s, 1e-12, 0));
  CHECK(near(joint.mean_gpu_s(1), mean_of(joint, run), 1e-12, 0));
  for (std::size_t i = 0; i < cluster.types.size(); ++i) {
    const double share = mean_of(joint, [&](const JointCell& cell, double count, double run_s) {
      return cell.type == i ? count * run_s / gpu_s : 0;
    });
    if (cluster.types[i].gpu_time_percent > 0)
      CHECK(near(100 * share, cluster.types[i].gpu_time_percent, 0.02, 0));
  }
}

}  // namespace

TEST_CASE("the joint has the published means and shares of GPU time; independent draws have not") {
  check_moments("acme-seren");
  check_moments("acme-kalos");
  check_moments("saturn");
  // Independent within a type: the share of at least one type is off by more than a third.
  const ClusterFigures cluster = bundled_figures("acme-seren").cluster;
  const auto gpus = gpu_counts(cluster);
  double worst = 0;
  for (const WorkType& type : cluster.types) {
    const auto slots = run_slots(type, cluster.max_run_s);
    const auto runs = slot_shares(type, slots);
    const auto counts = gpu_prior(cluster, type, gpus);
    double run = 0;
    for (std::size_t i = 0; i < slots.size(); ++i) run += runs[i] * slots[i].mean();
    const double count = std::inner_product(counts.begin(), counts.end(), gpus.begin(), 0.0) /
                         std::accumulate(counts.begin(), counts.end(), 0.0);
    const double share = type.job_percent * run * count / cluster.mean_gpu_s();
    worst = std::max(worst, std::abs(share / type.gpu_time_percent - 1));
  }
  CHECK(worst > 1.0 / 3);
}

TEST_CASE("GPU counts are the powers of two and multiples of eight that the steps hold") {
  ClusterFigures cluster;
  cluster.gpu_cdf = {{1, 50}, {7, 50}, {8, 80}, {505, 90}, {511, 90}, {700, 100}};
  cluster.gpu_time_cdf = {{1, 10}, {8, 20}, {700, 100}};
  CHECK(gpu_counts(cluster) == std::vector<double>{1, 8, 256, 512});
  cluster.large_gpus = {520};
  CHECK(gpu_counts(cluster) == std::vector<double>{1, 8, 256, 520});
}

TEST_CASE("quartiles of the box plots stand after the fit") {
  for (const char* name : {"acme-seren", "acme-kalos"}) {
    const Published published = bundled_figures(name);
    const Joint joint = fit_joint(published);
    for (std::size_t type = 0; type < published.cluster.types.size(); ++type) {
      const auto& box = published.cluster.types[type].gpus;
      const auto share = [&](auto takes) {
        return mean_of(joint,
                       [&](const JointCell& cell, double count, double) {
                         return cell.type == type && takes(count) ? 1.0 : 0.0;
                       }) /
               mean_of(joint, [&](const JointCell& cell, double, double) {
                 return cell.type == type ? 1.0 : 0.0;
               });
      };
      for (std::size_t i = 1; i < 4; ++i) {
        const double quarter = 0.25 * static_cast<double>(i);
        CHECK(share([&](double count) { return count < box[i]; }) <= quarter);
        CHECK(share([&](double count) { return count <= box[i]; }) >= quarter);
      }
    }
  }
}

TEST_CASE("slots follow the CDF, even on the logarithm, and end at the longest run") {
  WorkType type;
  type.duration_cdf = {{1, 10}, {512, 50}, {1024, 90}, {4096, 100}};
  const auto slots = run_slots(type, 2048);
  REQUIRE(slots.size() == 10);  // two whole steps and two in quarters
  CHECK(slots.back().high == 2048);
  CHECK(near(slots[3].high / slots[3].low, std::pow(2.0, 0.25), 1e-12, 0));
  const auto shares = slot_shares(type, slots);
  CHECK(near(shares[0], 0.1, 1e-12, 0));
  CHECK(near(shares[2], 0.1, 1e-12, 0));  // 40 % in four quarters
  CHECK(near(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-12, 0));
  CHECK((RunSlot{0, 1, 0}).mean() == 1);
  CHECK(near((RunSlot{1, std::exp(1.0), 0}).mean(), std::exp(1.0) - 1, 1e-12, 0));
}

TEST_CASE("short runs fail more often, long ones are cancelled, larger jobs as the table says") {
  const Published seren = bundled_figures("acme-seren");
  CHECK(state_prior(seren, 1, 30)[2] > state_prior(seren, 1, 20'000)[2]);
  CHECK(state_prior(seren, 1, 60'000)[1] > state_prior(seren, 1, 100)[1]);
  const Published saturn = bundled_figures("saturn");
  CHECK(state_prior(saturn, 64, 1000)[1] > state_prior(saturn, 1, 1000)[1]);
}

}  // namespace schedmate::synth
