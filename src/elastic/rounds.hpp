// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Elastic scheduling in rounds: all jobs advance for an interval, then the policy
/// hands out the GPUs again. A policy is a function; rows: src/elastic/elastic_policies.def.

#include <functional>
#include <memory>
#include <optional>
#include <schedmate/result.hpp>
#include <span>
#include <string>
#include <vector>

#include "elastic/elastic_job.hpp"
#include "elastic/node_placer.hpp"

namespace schedmate::elastic {

/// What a policy sees in a round.
struct ElasticView {
  double now_s = 0;
  const ElasticCluster& cluster;
  std::span<const Configuration> configurations;
  std::span<ElasticRun* const> active;  ///< submitted, not done and not away, by submission
};

/// What it decides, entry by entry of `active`.
struct ElasticPlan {
  std::vector<Assignment> held;                      ///< nothing for those that are profiled
  std::vector<std::vector<std::uint16_t>> measured;  ///< types whose profile starts or goes on
};
using ElasticPolicy = std::function<ElasticPlan(const ElasticView& view)>;

/// Infrastructure failures: exponential in the GPU time that a job holds, drawn by job, so that all
/// policies see the same ones. A job fails at the end of a round.
struct ElasticFailures {
  double gpu_hours = 0;  ///< mean between two; 0 = none
  double checkpoint_s = 1800;
  ElasticRecovery recovery;
  std::uint64_t seed = 1;
};

struct ElasticOptions {
  double interval_s = 60;
  FitSearch fit = FitSearch::released;  ///< of throughput models
  double longest_s = 1e8;               ///< a simulation that goes on for longer is given up
  /// Called when a job comes: what is to be measured first, and what others have shown.
  std::function<void(ElasticRun& run, std::span<ElasticRun* const> known)> admit;
  ElasticFailures failures;
  /// On which machines jobs lie, and that a job which has to change them restarts. Nothing: not
  /// modelled, as in the released simulator.
  std::optional<PlacementRule> placement;
};

struct ElasticOutcome {
  double submit_s = 0, start_s = 0, completion_s = 0;
  std::int32_t restarts = 0, failures = 0;
  GpuSecondsSpent spent;
  std::vector<std::uint32_t> matches;  ///< jobs whose steps stood in for its profiling
};

struct ElasticResult {
  std::vector<ElasticOutcome> jobs;  ///< as they were given
  std::int64_t rounds = 0;
  double mean_active = 0;  ///< jobs in the rounds that had one
};

/// A workload: jobs by submission, each of one of the applications.
struct ElasticWorkload {
  std::vector<ElasticJob> jobs;
  std::vector<Application> applications;
};

/// Errors: unsupported when a step time is not measured or the simulation does not end.
[[nodiscard]] Result<ElasticResult> run_rounds(const ElasticWorkload& workload,
                                               const ElasticCluster& cluster,
                                               const ElasticPolicy& policy,
                                               const ElasticOptions& options);

}  // namespace schedmate::elastic
