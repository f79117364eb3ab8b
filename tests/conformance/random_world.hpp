// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Small random worlds for the property suite: a cluster and a trace that strain a scheduler.

#include <cstdint>
#include <schedmate/cluster.hpp>
#include <schedmate/job.hpp>

namespace schedmate::conformance {

struct World {
  Trace trace;
  ClusterSpec cluster;
};

/// 1-4 VCs of different node sizes and rounds; 5-40 jobs: bursts, equal submissions, gangs over
/// several nodes, a few too large for their VC, no duration at all, durations around Lucid's
/// profiling time; with or without profiles, pair speeds and a forecast; estimates (column
/// "estimate_s") that are right, wrong or negative.
[[nodiscard]] World random_world(std::uint64_t seed);

}  // namespace schedmate::conformance
