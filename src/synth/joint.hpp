// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The joint distribution of type, GPUs, run time and end state of a cluster's jobs: of all that
/// have the published shares and means, the one closest to the independent draw (tilt.hpp).

#include <cstdint>
#include <vector>

#include "synth/published.hpp"

namespace schedmate::synth {

/// Run times above `low` and up to `high` seconds, spread evenly over their logarithm.
struct RunSlot {
  double low = 0;
  double high = 0;
  std::uint16_t point = 0;  ///< of the type's duration CDF: the first that is not below
  [[nodiscard]] double mean() const;
};

struct JointCell {
  std::uint8_t type = 0;
  std::uint8_t state = 0;  ///< of synth_states
  std::uint16_t gpus = 0;  ///< of Joint::gpus
  std::uint16_t slot = 0;  ///< of Joint::slots[type]
};

struct Joint {
  std::vector<double> gpus;                 ///< counts that occur, rising
  std::vector<std::vector<RunSlot>> slots;  ///< of each type, rising
  std::vector<JointCell> cells;             ///< by type, slot, GPUs, state
  std::vector<double> weights;              ///< of each cell, the sum 1

  /// GPU seconds of a job when no job may have more GPUs than `most`.
  [[nodiscard]] double mean_gpu_s(double most) const;
};

/// GPU counts: in each step of the two CDFs its power of two, or its largest multiple of 8, or its
/// end; none where a step is flat.
[[nodiscard]] std::vector<double> gpu_counts(const ClusterFigures& cluster);

[[nodiscard]] Joint fit_joint(const Published& published);

}  // namespace schedmate::synth
