// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/random.hpp"
#include "synth/streaks.hpp"

namespace schedmate::synth {

/// GPU time of each user, heaviest first, as shares: the published curve, linear between its
/// points.
[[nodiscard]] std::vector<double> user_shares(const ClusterFigures& cluster);

/// Gives each burst a user. The bursts with most GPU time come first; a user is drawn by the GPU
/// time that is left of the user's share.
void assign_users(const ClusterFigures& cluster, const Streaks& streaks, SynthJobs& jobs,
                  Random random);

/// Percent of the GPU time of the top `percent` of users.
[[nodiscard]] double top_share(const ClusterFigures& cluster, const SynthJobs& jobs,
                               double percent);

}  // namespace schedmate::synth
