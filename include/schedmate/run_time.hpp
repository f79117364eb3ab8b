// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How long a job may run, as far as similar jobs show. A backfiller, an index policy, an expected
/// start and the advice for a time limit each read their own figure of it. Plain values, in
/// seconds on the job's own GPUs.

#include <schedmate/time.hpp>

namespace schedmate {

struct RunTimeDistribution {
  FractionalSeconds mean{0};
  /// So many of a hundred such jobs run no longer.
  FractionalSeconds p10{0}, p50{0}, p90{0};

  /// All of them at one point: somebody knows.
  [[nodiscard]] static constexpr RunTimeDistribution point(FractionalSeconds run_time) {
    return {run_time, run_time, run_time, run_time};
  }
  /// The run time that this share of such jobs does not exceed. Between two known quantiles it runs
  /// on a line of the logarithm. Below 0.1 and above 0.9 it is the nearest known one, as nobody
  /// knows more.
  [[nodiscard]] FractionalSeconds quantile(double share) const;
  /// As wide, in proportion, around `to` as this is around `from`, which is above 0.
  [[nodiscard]] RunTimeDistribution moved(FractionalSeconds from, FractionalSeconds to) const;
  bool operator==(const RunTimeDistribution&) const = default;
};

}  // namespace schedmate
