// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is told of elastic simulations: figures of each policy, with intervals over the ways to
/// break ties.

#include <array>
#include <span>
#include <string>
#include <vector>

#include "apps/policy_spec.hpp"
#include "elastic/rounds.hpp"
#include "evaluate/statistics.hpp"

namespace schedmate {

class ElasticSummary {
 public:
  ElasticSummary(std::string trace, const ElasticCluster& cluster, std::size_t jobs);
  void add(const PolicySpec& policy, std::span<const ElasticResult> results);
  [[nodiscard]] std::string json() const;
  [[nodiscard]] std::string text() const;

 private:
  static constexpr std::size_t figures = 6;
  struct Row {
    std::string label, policy;
    std::array<Interval, figures> intervals;
    std::int64_t rounds = 0;
  };
  std::string trace_;
  std::string cluster_;
  std::int32_t gpus_;
  std::size_t jobs_;
  std::vector<Row> rows_;
};

/// One row a job.
[[nodiscard]] std::string elastic_jobs_csv(const ElasticWorkload& workload,
                                           const ElasticResult& result);

}  // namespace schedmate
