// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How a training goes on: epochs, and gradient statistics by total batch. Progress is
/// counted in steps of the smallest batch, which is the one the job begins with.

#include <cstdint>
#include <vector>

#include "elastic/goodput.hpp"

namespace schedmate::elastic {

/// One training at one total batch; entry e of each is epoch e.
struct TrainingRun {
  double batch = 0;
  std::vector<double> progress;  ///< steps of the smallest batch until the epoch's end
  std::vector<GradientNoise> noise;
};

class TrainingTable {
 public:
  /// Runs of equally many epochs, at least one, ascending by batch.
  explicit TrainingTable(std::vector<TrainingRun> runs);

  [[nodiscard]] double initial_batch() const { return runs_.front().batch; }
  [[nodiscard]] double most_batch() const { return runs_.back().batch; }
  [[nodiscard]] std::size_t epochs() const { return ends_.size(); }
  /// Progress at the end of epoch e: the least of all runs.
  [[nodiscard]] double end_of(std::size_t epoch) const { return ends_[epoch]; }
  /// Linear between the batches above and below; beyond the largest that of the largest.
  [[nodiscard]] GradientNoise noise_at(double batch, std::size_t epoch) const;

 private:
  std::vector<TrainingRun> runs_;
  std::vector<double> ends_;
};

}  // namespace schedmate::elastic
