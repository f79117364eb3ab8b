// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Robust statistics of weighted samples.

#include <vector>

namespace schedmate::advisor {

struct Weighted {
  double value = 0;
  double weight = 1;  ///< >= 0
};
using Sample = std::vector<Weighted>;

[[nodiscard]] double total_weight(const Sample& sample);

/// The smallest value at which at least `share` of the weight lies at or below; half way to the
/// next one where it is reached exactly. The sample must hold some weight.
[[nodiscard]] double quantile(Sample sample, double share);
/// The same of a sample by value, each of some weight.
[[nodiscard]] double quantile_of_sorted(const Sample& sample, double share);

/// Median absolute deviation from `centre`, as the standard deviation of a normal sample.
[[nodiscard]] double robust_spread(const Sample& sample, double centre);

/// Weighted mean; the sample must hold some weight.
[[nodiscard]] double mean_of(const Sample& sample);

}  // namespace schedmate::advisor
