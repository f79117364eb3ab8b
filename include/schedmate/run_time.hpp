// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How long a job may run, as far as similar jobs tell: what a backfiller, an index policy, an
/// expected start and advice for a time limit each read their own figure of. Plain values.

#include <schedmate/time.hpp>

namespace schedmate {

struct RunTimeDistribution {
  FractionalSeconds mean{0};
  FractionalSeconds p10{0}, p50{0}, p90{0};  ///< so many of a hundred such jobs run no longer

  /// All of them at one point: somebody knows.
  [[nodiscard]] static constexpr RunTimeDistribution point(FractionalSeconds run_time) {
    return {run_time, run_time, run_time, run_time};
  }
  /// The run time that this share of such jobs does not exceed: between two known ones on a line
  /// of its logarithm; below 0.1 and above 0.9 the nearest known one, as nobody knows more.
  [[nodiscard]] FractionalSeconds quantile(double share) const;
  /// As wide, in proportion, around `to` as this is around `from`, which is above 0.
  [[nodiscard]] RunTimeDistribution moved(FractionalSeconds from, FractionalSeconds to) const;
  bool operator==(const RunTimeDistribution&) const = default;
};

}  // namespace schedmate
