// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What Sia expects of a job on each configuration of the cluster.

#include <span>
#include <vector>

#include "elastic/elastic_job.hpp"

namespace schedmate::elastic {

struct RowOptions {
  bool project = true;     ///< types it has not run on: from one that it has, by one-GPU throughput
  bool share_most = true;  ///< the scale-up limit of the best known type holds for all
};

struct RowInput {
  const ElasticRun& run;
  const ElasticCluster& cluster;
  std::span<const Configuration> configurations;
};

/// One value for each configuration, the smallest possible one 1; 0 = impossible. A job of which
/// nothing is known has 1 on one GPU of each type.
[[nodiscard]] std::vector<double> goodput_row(const RowInput& input, const RowOptions& options);

/// max(age - restarts x penalty, 0) / (age + penalty); 1 while it is younger than the penalty.
[[nodiscard]] double restart_factor(const ElasticRun& run, double now_s);

}  // namespace schedmate::elastic
