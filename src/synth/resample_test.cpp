// SPDX-License-Identifier: Apache-2.0
#include "synth/resample.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "synth/arrivals.hpp"
#include "tests/support/near.hpp"

namespace schedmate::synth {
namespace {

using testing::near;

constexpr std::int64_t day_s = 86'400;

ClusterSpec cluster_of(std::initializer_list<int> nodes) {
  ClusterSpec cluster;
  for (const int count : nodes) {
    PartitionSpec vc;
    vc.name = std::string(1, static_cast<char>('a' + std::ssize(cluster.partitions)));
    vc.nodes = count;
    cluster.partitions.push_back(vc);
  }
  return cluster;
}

std::vector<int> nodes_of(const Result<ClusterSpec>& cluster) {
  REQUIRE(cluster);
  std::vector<int> nodes;
  for (const PartitionSpec& vc : cluster->partitions) nodes.push_back(vc.nodes);
  return nodes;
}

/// Ten days; 24 submissions a day at the full hours, those of days 5 and 6 at noon only.
Trace weekly() {
  Trace trace;
  trace.users = {"u"};
  trace.vcs = {"a", "b"};
  for (int i = 0; i < 10 * 24; ++i) {
    const bool quiet = i / 24 % 7 >= 5;
    if (quiet && i % 24 != 12) continue;
    Job job;
    job.id = "x";
    job.gpus = i % 2 == 0 ? 8 : 64;
    job.vc = i % 2 == 0 ? 0 : 1;
    job.submit = at(i * std::int64_t{3600});
    job.duration = Seconds(1000);
    trace.jobs.push_back(job);
  }
  return trace;
}

}  // namespace

TEST_CASE("a cluster is scaled in whole nodes, the rest goes to the largest VC") {
  const ClusterSpec cluster = cluster_of({1, 3, 6});  // 80 GPUs
  CHECK(nodes_of(scale_cluster(cluster, 80)) == std::vector{1, 3, 6});
  CHECK(nodes_of(scale_cluster(cluster, 800)) == std::vector{10, 30, 60});
  // 15 nodes: 1.5, 4.5, 9 -> 1, 4, 9 and one left.
  CHECK(nodes_of(scale_cluster(cluster, 120)) == std::vector{1, 4, 10});
  // 5 nodes: 0.5, 1.5, 3 -> at least one each: 1, 1, 3.
  CHECK(nodes_of(scale_cluster(cluster, 40)) == std::vector{1, 1, 3});
  CHECK(nodes_of(scale_cluster(cluster, 47)) == std::vector{1, 1, 3});
  CHECK_FALSE(scale_cluster(cluster, 16));
}

TEST_CASE("the span follows from the load, and jobs larger than their VC are drawn again") {
  const Trace source = weekly();
  // b has one node after scaling: its jobs of 64 GPUs cannot be drawn.
  const auto drawn = resample(source, cluster_of({3, 3}), {.jobs = 5000, .gpus = 16, .load = 0.5});
  REQUIRE(drawn);
  for (const std::uint32_t row : drawn->rows) CHECK(source.jobs[row].gpus == 8);
  // 5000 jobs x 8 GPUs x 1000 s / (16 GPUs x 0.5)
  CHECK(drawn->span == Seconds(5'000'000));
  CHECK(std::ranges::is_sorted(drawn->submits));
  CHECK(drawn->submits.back() < at(0) + drawn->span);
  CHECK_FALSE(resample(source, cluster_of({3, 3}), {.jobs = 5, .gpus = 8, .load = 0.5}));
}

TEST_CASE("arrivals keep the days of the week and the time of the day") {
  const Arrivals arrivals(weekly());
  const auto times = arrivals.draw(14'000, Seconds(28 * day_s), Random(1));
  std::vector<int> by_weekday(7);
  for (const SimTime time : times)
    ++by_weekday[static_cast<std::size_t>(seconds_of(time) / day_s % 7)];
  // Five days with 24 submissions, two with 1: 14000 x 24 / 122 and 14000 x 1 / 122.
  for (const std::size_t busy : {0U, 1U, 2U, 3U, 4U}) CHECK(near(by_weekday[busy], 2754, 0.1, 0));
  for (const std::size_t quiet : {5U, 6U}) CHECK(near(by_weekday[quiet], 115, 0.3, 0));
  for (const SimTime time : times) {
    if (seconds_of(time) / day_s % 7 >= 5) CHECK(seconds_of(time) % day_s >= 12 * 3600);
  }
}

TEST_CASE("a span below a day has the first hours only") {
  const auto times = Arrivals(weekly()).draw(1000, Seconds(18'000), Random(1));
  CHECK(times.front() >= at(0));
  CHECK(times.back() < at(18'000));
  CHECK(near(std::ranges::count_if(times, [](SimTime t) { return t < at(3600); }), 200, 0.3, 0));
}

}  // namespace schedmate::synth
