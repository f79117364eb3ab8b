// SPDX-License-Identifier: Apache-2.0
#include "study/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

#include "base/random.hpp"

namespace schedmate::study {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// P(|T| < t) for t = sqrt(freedom) tan(angle).
double inside(double angle, int freedom) {
  const double cosine = std::cos(angle);
  const bool odd = freedom % 2 == 1;
  double term = odd ? cosine : 1;
  double sum = freedom == 1 ? 0 : term;
  for (int k = odd ? 3 : 2; k < freedom; k += 2) {
    term *= cosine * cosine * (k - 1) / k;
    sum += term;
  }
  const double series = std::sin(angle) * sum;
  return odd ? 2 / std::numbers::pi * (angle + series) : series;
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double standard_error(std::span<const double> values, double mean) {
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto n = static_cast<double>(values.size());
  return std::sqrt(squares / (n - 1) / n);
}

}  // namespace

double student_t(double probability, int freedom) {
  const double wanted = 2 * probability - 1;
  double low = 0;
  double high = std::numbers::pi / 2;
  constexpr int halvings = 100;
  for (int i = 0; i < halvings; ++i) {
    const double middle = (low + high) / 2;
    (inside(middle, freedom) < wanted ? low : high) = middle;
  }
  return std::sqrt(static_cast<double>(freedom)) * std::tan(low);
}

Interval mean_interval(std::span<const double> values) {
  if (values.empty()) return {nothing, nothing, nothing, 0};
  const double mean = mean_of(values);
  if (values.size() < 2) return {mean, nothing, nothing, values.size()};
  const double reach =
      student_t(0.975, static_cast<int>(values.size()) - 1) * standard_error(values, mean);
  return {mean, mean - reach, mean + reach, values.size()};
}

double upper_bound(std::span<const double> values) {
  if (values.size() < 2) return nothing;
  const double mean = mean_of(values);
  return mean + student_t(0.95, static_cast<int>(values.size()) - 1) * standard_error(values, mean);
}

Interval ratio_interval(const Sums& sums, std::uint64_t seed) {
  const double whole = std::accumulate(sums.whole.begin(), sums.whole.end(), 0.0);
  const double part = std::accumulate(sums.part.begin(), sums.part.end(), 0.0);
  const std::size_t n = sums.whole.size();
  if (n == 0 || whole == 0) return {nothing, nothing, nothing, n};
  if (n < 2) return {part / whole, nothing, nothing, n};
  constexpr int draws = 2000;
  Random random(mix(seed));
  std::vector<double> ratios;
  for (int draw = 0; draw < draws; ++draw) {
    double above = 0;
    double below = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const auto drawn = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(n)));
      above += sums.part[drawn];
      below += sums.whole[drawn];
    }
    if (below != 0) ratios.push_back(above / below);
  }
  std::ranges::sort(ratios);
  return {part / whole, quantile(ratios, 0.025), quantile(ratios, 0.975), n};
}

double quantile(std::span<const double> sorted, double q) {
  if (sorted.empty()) return nothing;
  const double rank = std::ceil(q * static_cast<double>(sorted.size()));
  const auto index = static_cast<std::size_t>(std::max(1.0, rank)) - 1;
  return sorted[std::min(index, sorted.size() - 1)];
}

}  // namespace schedmate::study
