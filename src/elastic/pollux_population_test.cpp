// SPDX-License-Identifier: Apache-2.0
#include "elastic/pollux_population.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/support/effort.hpp"
#include "tests/support/near.hpp"

namespace schedmate::elastic {
namespace {

using testing::near;

using SearchRows = std::vector<NodeGpus>;

std::int32_t gpus_in(const NodeGpus& row) { return std::accumulate(row.begin(), row.end(), 0); }
std::int32_t nodes_in(const NodeGpus& row) {
  return static_cast<std::int32_t>(row.size()) -
         static_cast<std::int32_t>(std::ranges::count(row, 0));
}

/// More GPUs are faster by less than they are, and spread ones a little slower.
double bent(std::int32_t nodes, std::int32_t gpus) {
  return std::pow(gpus, 0.8) / (1 + 0.05 * (nodes - 1));
}

PopulationJob job_with(std::uint64_t key, const NodeGpus& room, std::int32_t most) {
  PopulationJob job;
  job.key = key;
  job.held.assign(room.size(), 0);
  job.room = room;
  job.most = most;
  return job;
}

PopulationProblem equal_jobs(std::size_t jobs, const NodeGpus& capacity, std::int32_t most) {
  PopulationProblem problem;
  problem.capacity = capacity;
  for (std::size_t i = 0; i < jobs; ++i) problem.jobs.push_back(job_with(i + 1, capacity, most));
  problem.speedup = [](std::size_t, std::int32_t nodes, std::int32_t gpus) {
    return bent(nodes, gpus);
  };
  return problem;
}

/// Harmonic mean of speedups, as the search has it.
double harmonic_mean(const PopulationProblem& problem, const SearchRows& rows) {
  double sum = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int32_t gpus = gpus_in(rows[i]);
    double speedup = gpus > 0 ? problem.speedup(i, nodes_in(rows[i]), gpus) : 0;
    if (rows[i] != problem.jobs[i].held) speedup *= problem.jobs[i].moved;
    sum += 1 / (speedup * problem.scale + 1e-3);
  }
  return static_cast<double>(rows.size()) / sum;
}

bool shares_fit(const PopulationProblem& problem, const SearchRows& rows) {
  for (std::size_t node = 0; node < problem.capacity.size(); ++node) {
    std::int32_t used = 0;
    std::int32_t spread = 0;
    for (const NodeGpus& row : rows) {
      used += row[node];
      spread += row[node] > 0 && nodes_in(row) > 1 ? 1 : 0;
    }
    if (used > problem.capacity[node] || spread > 1) return false;
  }
  return true;
}

void check_rows(const PopulationProblem& problem, const SearchRows& rows) {
  REQUIRE(rows.size() == problem.jobs.size());
  CHECK(shares_fit(problem, rows));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const PopulationJob& job = problem.jobs[i];
    if (job.pinned) {
      CHECK(rows[i] == job.held);
      continue;
    }
    CHECK(gpus_in(rows[i]) <= job.most);
    CHECK((gpus_in(rows[i]) == 0 || gpus_in(rows[i]) >= job.least));
    for (std::size_t node = 0; node < job.room.size(); ++node)
      CHECK(rows[i][node] <= job.room[node]);
  }
}

/// The next round: some leave, some come, some are restarting, pinned ones first.
void next_round(PopulationProblem& problem, const SearchRows& rows, Random& random) {
  std::vector<PopulationJob> jobs;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (random.below(6) == 0) continue;
    PopulationJob job = problem.jobs[i];
    job.held = rows[i];
    job.pinned = gpus_in(rows[i]) > 0 && random.below(3) == 0;
    job.most = std::min(2 * std::max(gpus_in(rows[i]), 1), 16);
    job.least = random.below(5) == 0 ? 2 : 0;
    job.moved = random.uniform();
    jobs.push_back(job);
  }
  NodeGpus room = problem.capacity;
  room[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(room.size())))] = 0;
  jobs.push_back(job_with(1000 + random.next() % 100'000, room, 4));
  std::ranges::stable_partition(jobs, &PopulationJob::pinned);
  problem.jobs = std::move(jobs);
}

TEST_CASE(
    "whatever comes, nodes are not overfull, shared by one spread job, and pinned jobs stay") {
  Random random(3);
  for (std::uint64_t seed = 0; seed < testing::cases(20); ++seed) {
    NodeGpus capacity(static_cast<std::size_t>(random.between(1, 20)));  // beyond one block of 16
    for (std::uint8_t& gpus : capacity) gpus = static_cast<std::uint8_t>(random.between(1, 8));
    PopulationProblem problem =
        equal_jobs(static_cast<std::size_t>(random.between(1, 12)), capacity, 3);
    PopulationSearch search({.population = 16, .generations = 12, .seed = seed});
    for (int round = 0; round < 8; ++round) {
      const SearchRows rows = search.best(problem);
      check_rows(problem, rows);
      next_round(problem, rows, random);
    }
  }
}

TEST_CASE("a seed always finds the same") {
  const PopulationProblem problem = equal_jobs(6, NodeGpus(6, 4), 6);
  PopulationSearch one({.population = 20, .generations = 10, .seed = 5});
  PopulationSearch two({.population = 20, .generations = 10, .seed = 5});
  PopulationSearch other({.population = 20, .generations = 10, .seed = 6});
  bool differs = false;
  for (int round = 0; round < 3; ++round) {
    const SearchRows rows = one.best(problem);
    CHECK(rows == two.best(problem));
    differs = differs || rows != other.best(problem);
  }
  CHECK(differs);
}

/// Calls `each` with every way to give `jobs` rows of up to 2 GPUs on each of two nodes.
template <class Each>
void every_way(std::size_t jobs, const Each& each) {
  const auto ways = static_cast<std::size_t>(std::pow(9, jobs));
  for (std::size_t way = 0; way < ways; ++way) {
    SearchRows rows;
    std::size_t rest = way;
    for (std::size_t job = 0; job < jobs; ++job, rest /= 9)
      rows.push_back(
          {static_cast<std::uint8_t>(rest % 3), static_cast<std::uint8_t>(rest / 3 % 3)});
    each(rows);
  }
}

TEST_CASE("where all ways can be tried the search finds the best") {
  Random random(11);
  for (std::uint64_t seed = 0; seed < testing::cases(10); ++seed) {
    PopulationProblem problem = equal_jobs(4, {2, 2}, 3);
    std::vector<double> speedups;
    for (int i = 0; i < 4 * 3 * 4; ++i) speedups.push_back(random.uniform());
    problem.speedup = [&](std::size_t job, std::int32_t nodes, std::int32_t gpus) {
      return speedups[(job * 3 + static_cast<std::size_t>(nodes)) * 4 +
                      static_cast<std::size_t>(gpus)];
    };
    problem.jobs[0].held = {1, 0};
    problem.jobs[0].moved = 0.5;
    double best = 0;
    every_way(4, [&](const SearchRows& rows) {
      const bool small =
          std::ranges::all_of(rows, [](const NodeGpus& row) { return gpus_in(row) <= 3; });
      if (small && shares_fit(problem, rows)) best = std::max(best, harmonic_mean(problem, rows));
    });
    PopulationSearch search({.population = 60, .generations = 60, .seed = seed});
    CHECK(near(harmonic_mean(problem, search.best(problem)), best, 1e-9, 0));
  }
}

TEST_CASE("equal jobs share fairly, and one that may not have more leaves the rest") {
  const PopulationProblem two = equal_jobs(2, {4, 4}, 8);
  PopulationSearch search({});
  for (const NodeGpus& row : search.best(two)) CHECK(gpus_in(row) == 4);
  PopulationProblem small = equal_jobs(2, {4, 4}, 8);
  small.jobs[0].most = 1;
  const SearchRows rows = search.best(small);
  CHECK(gpus_in(rows[0]) == 1);
  CHECK(gpus_in(rows[1]) == 7);
}

TEST_CASE("the last population helps on when jobs have left") {
  PopulationProblem problem = equal_jobs(8, NodeGpus(8, 4), 8);
  PopulationSearch warm({.population = 40, .generations = 60});
  const SearchRows rows = warm.best(problem);
  problem.jobs.erase(problem.jobs.begin() + 2, problem.jobs.begin() + 4);
  // A few generations more, all from where nobody holds anything.
  PopulationSearch cold({.population = 40, .generations = 60});
  const double found = harmonic_mean(problem, cold.best(problem));
  const double kept = harmonic_mean(problem, warm.best(problem));
  CHECK(kept > 0.98 * found);
  SearchRows left = rows;
  left.erase(left.begin() + 2, left.begin() + 4);
  CHECK(kept >= harmonic_mean(problem, left));
}

TEST_CASE("a job that loses by a move stays where nothing else is won") {
  PopulationProblem problem = equal_jobs(2, {4, 4}, 4);
  problem.jobs[0].held = {4, 0};
  problem.jobs[1].held = {0, 4};
  for (PopulationJob& job : problem.jobs) job.moved = 0.9;
  PopulationSearch search({.population = 10, .generations = 5});
  const SearchRows rows = search.best(problem);
  CHECK(rows[0] == problem.jobs[0].held);
  CHECK(rows[1] == problem.jobs[1].held);
}

}  // namespace
}  // namespace schedmate::elastic
