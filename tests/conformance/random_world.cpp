// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/random_world.hpp"

#include <algorithm>
#include <array>

#include "base/random.hpp"
#include "tests/support/small.hpp"

namespace schedmate::conformance {
namespace {

template <class Value, std::size_t count>
Value pick(Random& random, const std::array<Value, count>& values) {
  return values[static_cast<std::size_t>(random.below(count))];
}

/// Lucid's released settings know the first three.
constexpr std::array names{"vcYVn", "vc8Gr", "vcefl", "other"};

ClusterSpec random_cluster(Random& random) {
  ClusterSpec cluster;
  const auto vcs = random.between(1, 4);
  for (std::int64_t i = 0; i < vcs; ++i) {
    PartitionSpec vc;
    vc.name = names[static_cast<std::size_t>(i)];
    vc.nodes = static_cast<int>(random.between(1, 4));
    vc.gpus_per_node = pick(random, std::array{8, 8, 8, 4, 2, 1});
    vc.round = Seconds(pick(random, std::array{1, 1, 1, 7, 60}));
    cluster.partitions.push_back(vc);
  }
  return cluster;
}

std::shared_ptr<const PackingTables> random_tables(Random& random) {
  PackingTables tables;
  tables.profiles.resize(4);
  for (Profile& profile : tables.profiles) {
    profile.gpu_util_pct = 100 * random.uniform();
    profile.memory_mib = 12'000 * random.uniform();
    profile.sharing_score = static_cast<int>(random.below(3));
    profile.interference_free = random.below(5) == 0;
  }
  for (int i = 0; i < 16; ++i) {
    tables.pairs.push_back({0.4 + 0.8 * random.uniform(), 0.4 + 0.8 * random.uniform()});
  }
  return std::make_shared<const PackingTables>(std::move(tables));
}

/// Sometimes quiet, sometimes not, so that Lucid's sharing switch goes on and off.
std::shared_ptr<const ForecastTable> random_forecast(Random& random, SimTime first) {
  ForecastTable table;
  table.first = first;
  const std::int64_t most = random.between(2, 12);
  for (int row = 0; row < 60; ++row) {
    table.jobs.push_back(static_cast<double>(random.below(most)));
    table.gpus.push_back(8 * table.jobs.back());
  }
  return std::make_shared<const ForecastTable>(std::move(table));
}

testing::SmallJob random_job(Random& random, const ClusterSpec& cluster) {
  testing::SmallJob job;
  job.vc = static_cast<std::uint32_t>(random.below(std::ssize(cluster.partitions)));
  job.user = static_cast<std::uint32_t>(random.below(4));
  const PartitionSpec& vc = cluster.partitions[job.vc];
  const int all = vc.nodes * vc.gpus_per_node;
  job.gpus = pick(random, std::array{1, 1, 2, 3, 4, 8, vc.gpus_per_node, all, all - 1, all + 1});
  job.gpus = std::max(1, random.below(8) == 0 ? job.gpus : std::min(job.gpus, all));
  job.duration_s = pick(
      random, std::array<std::int64_t, 6>{0, 1, random.between(2, 90), random.between(150, 250),
                                          200, random.between(300, 4000)});
  return job;
}

}  // namespace

World random_world(std::uint64_t seed) {
  Random random(mix(seed));
  World world;
  world.cluster = random_cluster(random);
  std::vector<testing::SmallJob> jobs;
  const auto count = random.between(5, 40);
  const std::int64_t pause_s = pick(random, std::array<std::int64_t, 3>{5, 60, 600});
  std::int64_t now_s = random.below(100'000);
  for (std::int64_t i = 0; i < count; ++i) {
    if (random.below(3) == 0) now_s += random.between(1, pause_s);
    jobs.push_back(random_job(random, world.cluster));
    jobs.back().submit_s = now_s;
    if (random.below(4) != 0) jobs.back().profile = static_cast<std::uint32_t>(random.below(4));
  }
  const bool profiled = random.below(3) != 0;
  for (testing::SmallJob& job : jobs) job.profile = profiled ? job.profile : no_index;
  world.trace = testing::small_trace(jobs);
  for (std::size_t vc = 0; vc < world.trace.vcs.size(); ++vc) world.trace.vcs[vc] = names[vc];
  if (profiled) world.trace.packing = random_tables(random);
  if (profiled) world.trace.forecast = random_forecast(random, at(jobs.front().submit_s));
  // Of its own, so that all else stays as it was before jobs had states.
  Random states(mix(seed) ^ 1);
  for (Job& job : world.trace.jobs)
    job.state = pick(states, std::array{EndState::completed, EndState::completed, EndState::failed,
                                        EndState::cancelled, EndState::unknown});
  for (const Job& job : world.trace.jobs) {
    const auto duration_s = static_cast<double>(job.duration.count());
    world.trace.columns["estimate_s"].push_back(
        pick(random, std::array{duration_s, duration_s * 2 * random.uniform(),
                                5000 * random.uniform(), -100.0}));
  }
  return world;
}

}  // namespace schedmate::conformance
