// SPDX-License-Identifier: Apache-2.0
#include "advisor/weighted.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"

namespace schedmate::advisor {

double total_weight(const Sample& sample) {
  double sum = 0;
  for (const Weighted& each : sample) sum += each.weight;
  return sum;
}

double quantile(Sample sample, double share) {
  std::erase_if(sample, [](const Weighted& each) { return !(each.weight > 0); });
  std::ranges::sort(sample, {}, &Weighted::value);
  return quantile_of_sorted(sample, share);
}

double quantile_of_sorted(const Sample& sample, double share) {
  SCHEDMATE_CHECK(!sample.empty(), "a quantile needs a value with weight");
  const double wanted = share * total_weight(sample);
  constexpr double rounding = 1e-9;
  double below = 0;
  for (std::size_t i = 0; i + 1 < sample.size(); ++i) {
    below += sample[i].weight;
    const double beyond = below - wanted;
    if (beyond > rounding * wanted) return sample[i].value;
    if (beyond >= -rounding * wanted) return (sample[i].value + sample[i + 1].value) / 2;
  }
  return sample.back().value;
}

double robust_spread(const Sample& sample, double centre) {
  constexpr double of_a_normal_sample = 1.4826;
  Sample distances = sample;
  for (Weighted& each : distances) each.value = std::abs(each.value - centre);
  return of_a_normal_sample * quantile(std::move(distances), 0.5);
}

double mean_of(const Sample& sample) {
  const double weight = total_weight(sample);
  SCHEDMATE_CHECK(weight > 0, "a mean needs a value with weight");
  double sum = 0;
  for (const Weighted& each : sample) sum += each.weight * each.value;
  return sum / weight;
}

}  // namespace schedmate::advisor
