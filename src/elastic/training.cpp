// SPDX-License-Identifier: Apache-2.0
#include "elastic/training.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"

namespace schedmate::elastic {

TrainingTable::TrainingTable(std::vector<TrainingRun> runs) : runs_(std::move(runs)) {
  SCHEDMATE_CHECK(!runs_.empty() && !runs_.front().progress.empty(), "a training has an epoch");
  ends_ = runs_.front().progress;
  for (const TrainingRun& run : runs_) {
    SCHEDMATE_CHECK(run.progress.size() == ends_.size() && run.noise.size() == ends_.size(),
                    "all trainings have the same epochs");
    for (std::size_t e = 0; e < ends_.size(); ++e) ends_[e] = std::min(ends_[e], run.progress[e]);
  }
}

GradientNoise TrainingTable::noise_at(double batch, std::size_t epoch) const {
  const auto above = std::ranges::lower_bound(runs_, batch, {}, &TrainingRun::batch);
  if (above == runs_.end()) return runs_.back().noise[epoch];
  if (above == runs_.begin() || above->batch == batch) return above->noise[epoch];
  const auto below = above - 1;
  const double share = (batch - below->batch) / (above->batch - below->batch);
  const GradientNoise& low = below->noise[epoch];
  const GradientNoise& high = above->noise[epoch];
  return {std::lerp(low.squared, high.squared, share),
          std::lerp(low.variance, high.variance, share)};
}

}  // namespace schedmate::elastic
