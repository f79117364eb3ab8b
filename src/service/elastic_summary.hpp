// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is told of elastic simulations: figures of each policy, with intervals over the ways to
/// break ties.

#include <array>
#include <span>
#include <string>
#include <vector>

#include "study/policy_spec.hpp"
#include "elastic/rounds.hpp"
#include "study/statistics.hpp"

namespace schedmate::service {

class ElasticSummary {
 public:
  ElasticSummary(std::string trace, const ElasticCluster& cluster, const ElasticWorkload& workload);
  void add(const PolicySpec& policy, std::span<const ElasticResult> results);
  [[nodiscard]] std::string json() const;
  [[nodiscard]] std::string text() const;
  /// The same as a page, with what GPU time went to and how each application fared.
  [[nodiscard]] std::string html() const;

 private:
  static constexpr std::size_t figures = 6;
  struct Row {
    std::string label, policy;
    std::array<Interval, figures> intervals;
    std::int64_t rounds = 0;
    GpuSecondsSpent spent;                ///< by all jobs of all runs
    std::vector<double> application_jct;  ///< mean, seconds
    std::array<double, 10> deciles{};  ///< of JCT over all runs, seconds; the last is the longest
  };
  [[nodiscard]] std::vector<std::vector<std::string>> figure_table() const;
  std::string trace_;
  std::string cluster_;
  std::int32_t gpus_;
  const ElasticWorkload& workload_;
  std::vector<Row> rows_;
};

/// One row a job.
[[nodiscard]] std::string elastic_jobs_csv(const ElasticWorkload& workload,
                                           const ElasticResult& result);

}  // namespace schedmate::service
