// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Means of the run times that have ended in a virtual cluster: what an estimator says of a job of
/// which it knows nothing better. Memory follows the users, not the jobs.

#include <cstdint>
#include <schedmate/estimator.hpp>
#include <unordered_map>

namespace schedmate::policy {

class PastRuns {
 public:
  struct Mean {
    std::int64_t sum_s = 0;
    std::int64_t count = 0;
    void add(Seconds run_time) {
      sum_s += run_time.count();
      ++count;
    }
    [[nodiscard]] FractionalSeconds value() const {
      return FractionalSeconds(static_cast<double>(sum_s) / static_cast<double>(count));
    }
  };

  void add(const FinishedJob& ended);
  /// Mean of the user's, else of all, else an hour, blindly.
  [[nodiscard]] Prediction of_user(std::uint32_t user) const;
  /// Geometric mean of all, each at least a second, else an hour, blindly.
  [[nodiscard]] Prediction typical() const;

 private:
  std::unordered_map<std::uint32_t, Mean> by_user_;
  Mean all_;
  double sum_of_logs_ = 0;
};

}  // namespace schedmate::policy
