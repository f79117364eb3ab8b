// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What happens before a job trains (paper 4.2): it is measured on every GPU type, or
/// similar jobs have shown already what it would show.

#include <cstdint>
#include <vector>

#include "elastic/rounds.hpp"

namespace schedmate::elastic {

/// Who is taken for a similar job.
enum class MatchRule : std::uint8_t {
  none,      ///< nobody: every job is measured
  advisor,   ///< those that the Advisor finds
  perfect,   ///< jobs of the same application
  wrong,     ///< jobs of another application
  shuffled,  ///< any earlier job
};

/// For each job of a workload the earlier ones that are similar, by index, best first.
using SimilarJobs = std::vector<std::vector<std::uint32_t>>;

struct MatchOptions {
  MatchRule rule = MatchRule::none;
  double hit_rate = 1;         ///< share of the jobs for which similar ones are looked for
  bool finished_only = false;  ///< jobs that still run have shown nothing yet
  bool guarded = true;         ///< nothing is taken over while most matches turn out wrong
};

struct BootstrapOptions {
  double profile_s = 0;  ///< on one GPU of each type; 0 = nothing is measured, nothing is charged
  MatchOptions match{};
  const SimilarJobs* similar = nullptr;  ///< of MatchRule::advisor
  std::uint64_t seed = 1;
};

/// Goes into ElasticOptions::admit. A job with similar ones that were seen on a GPU type inherits
/// their steps and the early gradient statistics of the best of them, and is not measured. Matches
/// whose steps contradict those of better ones are passed over.
[[nodiscard]] std::function<void(ElasticRun& run, std::span<ElasticRun* const> known)> bootstrap(
    const BootstrapOptions& options);

}  // namespace schedmate::elastic
