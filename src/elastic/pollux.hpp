// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Pollux (OSDI 2021) as it serves Sia's authors as a baseline: blind to GPU types. All
/// that a job showed goes into one model, the cluster is nodes of equal size, and a search over a
/// population hands them out. A job whose GPUs come out mixed keeps those of one type; the others
/// stay idle.

#include "elastic/pollux_population.hpp"
#include "elastic/rounds.hpp"

namespace schedmate::elastic {

struct PolluxOptions {
  PopulationOptions search;
  double believed_restart_s = 30;  ///< of all jobs
};

[[nodiscard]] ElasticPolicy pollux_policy(const PolluxOptions& options);

}  // namespace schedmate::elastic
