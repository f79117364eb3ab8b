// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The search behind Pollux: a population of ways to hand out GPUs, improved by
/// crossing and mutating them (NSGA-II with two objectives). It knows of jobs only how fast each
/// would be, so that anything with such a table can be searched.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/random.hpp"

namespace schedmate::elastic {

struct PopulationOptions {
  std::int32_t population = 100;
  std::int32_t generations = 100;
  double power = -1;  ///< of the mean over jobs: the lower the fairer; 0 = geometric
  std::uint64_t seed = 0;
};

/// GPUs on each node.
using NodeGpus = std::vector<std::uint8_t>;

struct PopulationJob {
  std::uint64_t key = 0;             ///< the same in each round, another for each job
  NodeGpus held;                     ///< now
  NodeGpus room;                     ///< the most it may have on each node
  bool pinned = false;               ///< keeps what it holds
  std::int32_t least = 0, most = 1;  ///< GPUs; fewer than `least` are none
  double moved = 1;                  ///< factor of its speedup when its GPUs are not those it holds
};

struct PopulationProblem {
  NodeGpus capacity;                ///< with what pinned jobs hold
  std::vector<PopulationJob> jobs;  ///< pinned ones first; earlier ones first where GPUs are short
  double scale = 1;                 ///< of speedups
  /// Of a job with so many GPUs on so many nodes, at least one of each; not negative.
  std::function<double(std::size_t job, std::int32_t nodes, std::int32_t gpus)> speedup;
};

/// The population that a search ended with.
struct PopulationGenes {
  std::vector<std::uint64_t> keys;  ///< of the jobs
  std::size_t nodes = 0;
  std::vector<std::uint8_t> gpus;  ///< by member, job and node
};

/// Keeps its last population: the next search starts there with the jobs that are left.
class PopulationSearch {
 public:
  explicit PopulationSearch(const PopulationOptions& options)
      : options_(options), random_(mix(options.seed)) {}

  /// What each job gets on each node: of what was found the best by the first objective, the power
  /// mean of speedups (the second is the use that is made of the nodes in use). No node has more
  /// than its capacity, nor more than one job that is spread over several nodes.
  [[nodiscard]] std::vector<NodeGpus> best(const PopulationProblem& problem);

 private:
  PopulationOptions options_;
  Random random_;
  PopulationGenes last_;
};

}  // namespace schedmate::elastic
