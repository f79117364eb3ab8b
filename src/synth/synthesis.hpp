// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A synthetic trace of a cluster of which only figures are published: all steps in their order.

#include "synth/check.hpp"
#include "synth/published.hpp"
#include "synth/submissions.hpp"
#include "synth/synth_job.hpp"

namespace schedmate::synth {

struct SynthesisOptions {
  std::int64_t jobs = 0;       ///< 0: as many as `days` have
  double days = 0;             ///< 0: as many as `jobs` take at the published load, or 30
  std::int64_t gpus = 0;       ///< of the cluster, rounded down to whole nodes; 0: as published
  std::int64_t most_gpus = 0;  ///< of a job; 0: all of the cluster
  std::uint64_t seed = 1;
};

struct Synthesis {
  SynthJobs jobs;                ///< by time of submission; parents are indices into it
  std::vector<CheckRow> checks;  ///< of the draw before anything was capped
  Gaps gaps;
  std::int64_t span_s = 0;
  int nodes = 0;
  double load = 0;               ///< GPU seconds asked for / GPU seconds there are in the span
  std::int64_t capped = 0;       ///< jobs that asked for more GPUs than they may
  std::int64_t continued = 0;    ///< failed jobs with a continuation
  double top_users_percent = 0;  ///< GPU time of the top 5 % of users
  [[nodiscard]] bool holds() const;
};

/// With another size of the cluster, arrivals are as many as keep the published load.
/// Errors: unsupported when there would be no job at all, more than 100 million, or no whole node.
[[nodiscard]] Result<Synthesis> synthesize(const Published& published,
                                           const SynthesisOptions& options);

}  // namespace schedmate::synth
