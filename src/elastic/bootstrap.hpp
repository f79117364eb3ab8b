// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What happens before a job trains (sia.md 8; paper 4.2): it is measured on every GPU type, or
/// similar jobs have shown already what it would show.

#include <cstdint>

#include "elastic/rounds.hpp"

namespace schedmate {

/// Who is taken for a similar job.
enum class MatchRule : std::uint8_t {
  none,     ///< nobody: every job is measured
  perfect,  ///< jobs of the same application
  wrong,    ///< jobs of another application
  shuffled  ///< any earlier job
};

struct BootstrapOptions {
  double profile_s = 0;  ///< on one GPU of each type; 0 = nothing is measured, nothing is charged
  MatchRule match = MatchRule::none;
  double hit_rate = 1;         ///< share of the jobs for which similar ones are looked for
  bool finished_only = false;  ///< jobs that still run have shown nothing yet
  std::uint64_t seed = 1;
};

/// Goes into ElasticOptions::admit. A job with similar ones that were seen on a GPU type inherits
/// all their steps and the early gradient statistics of one of them, and is not measured.
[[nodiscard]] std::function<void(ElasticRun& run, std::span<ElasticRun* const> known)> bootstrap(
    const BootstrapOptions& options);

}  // namespace schedmate
