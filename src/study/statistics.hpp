// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Statistics over paired perturbations: few values, each a difference within one pair, so that
/// Student's t is the interval of their mean. Nothing here draws but the bootstrap, from a seed.

#include <cstdint>
#include <span>

namespace schedmate::study {

/// An estimate with its two-sided 95 % interval; bounds are NaN where there is none (n < 2).
struct Interval {
  double value = 0;
  double low = 0;
  double high = 0;
  std::uint64_t n = 0;
};

/// Quantile of Student's t for 0.5 <= probability < 1 and at least one degree of freedom, from the
/// closed form of its distribution for whole degrees (Abramowitz, Stegun 26.7.3 and 26.7.4).
[[nodiscard]] double student_t(double probability, int freedom);

/// Mean and standard deviation / sqrt(n) times t. NaN without any value.
[[nodiscard]] Interval mean_interval(std::span<const double> values);
/// One-sided: the mean lies below with 95 % confidence. NaN for fewer than two values.
[[nodiscard]] double upper_bound(std::span<const double> values);

/// Pairs of sums, one of each perturbation.
struct Sums {
  std::span<const double> part;
  std::span<const double> whole;  ///< as many
};
/// Sum of parts over sum of wholes with the percentile bootstrap over the pairs (2,000 draws). NaN
/// where the wholes sum to 0.
[[nodiscard]] Interval ratio_interval(const Sums& sums, std::uint64_t seed);

/// Nearest rank: the smallest value that at least the share `q` of them does not exceed. `sorted`
/// ascends; NaN when it is empty.
[[nodiscard]] double quantile(std::span<const double> sorted, double q);

}  // namespace schedmate::study
