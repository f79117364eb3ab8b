// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which batch makes a job learn fastest (Pollux, OSDI 2021): throughput times statistical
/// efficiency.

#include <cstdint>

#include "elastic/throughput.hpp"

namespace schedmate::elastic {

/// Gradient statistics at some point of a training.
struct GradientNoise {
  double squared = 0;   ///< square of the mean gradient
  double variance = 0;  ///< at the batch size that the job began with
};

/// How much further a step of `batch` samples gets than one of `initial_batch`; 1 where the
/// statistics say nothing.
[[nodiscard]] double gain(const GradientNoise& noise, double batch, double initial_batch);

struct BatchLimits {
  std::int32_t least = 1, most = 1;  ///< atomic batch
  std::int32_t initial_batch = 1;    ///< total, of the job
  std::int32_t most_batch = 1;       ///< total
  bool tuned = true;                 ///< false: the total is most_batch
  /// Total batches rounded as the released scheduler has them (its executor does not): where only
  /// one is possible it may come out a little larger, and a sample more for each GPU is tried too.
  bool single_precision = false;
};

struct BatchChoice {
  std::int32_t atomic_batch = 0;
  std::int32_t accumulation = 0;
  double goodput = 0;  ///< useful samples per second; 0: none is possible, this one neither
};

/// Of 50 total batches in geometric progression the best; the first among equals. `spread` is
/// without its atomic batch.
[[nodiscard]] BatchChoice best_batch(const ThroughputModel& model, const GradientNoise& noise,
                                     const BatchLimits& limits, StepShape spread);

/// Atomic batch and accumulation for a total batch that is not tuned (goodput is 0).
[[nodiscard]] BatchChoice fixed_batch(const BatchLimits& limits, double total,
                                      std::int32_t replicas);

}  // namespace schedmate::elastic
