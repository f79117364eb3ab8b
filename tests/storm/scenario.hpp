// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a seed draws before anything happens: the cluster and the daemon's settings.

#include <string>

#include "live/loop.hpp"
#include "tests/storm/faults.hpp"
#include "tests/storm/model_cluster.hpp"

namespace schedmate::storm {

struct Scenario {
  ModelCluster::Setup cluster;
  live::LoopOptions options;
  std::string policy;  ///< "": it starts no jobs
  Seconds until{1800};
  std::int64_t most_bytes = 0;  ///< of the journal before it is compacted; 0: it never is
  bool undo_all = false;        ///< an operator does, in the end
};
[[nodiscard]] Scenario scenario_of(const Dice& dice);
[[nodiscard]] live::Modes random_modes(Random& random);
[[nodiscard]] std::string text_of(const Scenario& scenario);

}  // namespace schedmate::storm
