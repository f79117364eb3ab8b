// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What elastic simulations gave: figures of each policy, with intervals over the ways to break
/// ties.

#include <array>
#include <span>
#include <string>
#include <vector>

#include "base/document.hpp"
#include "elastic/rounds.hpp"
#include "study/policy_spec.hpp"
#include "study/statistics.hpp"

namespace schedmate::lab {

/// One policy over all perturbations.
struct ElasticRow {
  static constexpr std::size_t figures = 6;
  std::string label, policy;
  std::array<study::Interval, figures> intervals;
  std::int64_t rounds = 0;
  elastic::GpuSecondsSpent spent;       ///< by all jobs of all runs
  std::vector<double> application_jct;  ///< mean, seconds
  std::array<double, 10> deciles{};     ///< of JCT over all runs, seconds; the last is the longest
};
[[nodiscard]] ElasticRow summarise_elastic(const study::PolicySpec& policy,
                                           const elastic::ElasticWorkload& workload,
                                           std::span<const elastic::ElasticResult> results);

struct ElasticSummary {
  std::string trace, cluster;
  std::int32_t gpus = 0;
  std::size_t jobs = 0;
  std::vector<std::string> applications;
  std::vector<ElasticRow> rows;
  /// Ways to break ties.
  [[nodiscard]] std::uint64_t perturbations() const {
    return rows.empty() ? 0 : rows.front().intervals.front().n;
  }
};

/// schedmate.elastic.v1
[[nodiscard]] Document elastic_document(const ElasticSummary& summary);
/// Means and intervals, a head and one row a policy.
[[nodiscard]] std::vector<std::vector<std::string>> figure_table(const ElasticSummary& summary);
/// An HTML page: the same, with what GPU time went to and how each application fared.
[[nodiscard]] std::string elastic_page(const ElasticSummary& summary);

/// One row a job.
[[nodiscard]] std::string elastic_jobs_csv(const elastic::ElasticWorkload& workload,
                                           const elastic::ElasticResult& result);

}  // namespace schedmate::lab
