// SPDX-License-Identifier: Apache-2.0
#include "advisor/conformal.hpp"

#include <algorithm>

#include "advisor/weighted.hpp"

namespace schedmate::advisor {
namespace {

constexpr double tail = 0.1;  ///< on each side of the interval

}  // namespace

LogInterval conformal_interval(const EstimateInput& input, double spread) {
  Sample sample;
  sample.reserve(normal_sample.size() + input.residuals.size());
  for (const double z : normal_sample)
    sample.push_back({z * spread, prior_weight / static_cast<double>(normal_sample.size())});
  for (const Residual& residual : input.residuals)
    sample.push_back(
        {residual.log_ratio, weight_of_case(residual.same_user, residual.source == input.source)});
  // The case at hand is one more member of the sample, and may lie beyond all others: that is the
  // finite-sample correction. "Beyond" is as far as a spread makes believable.
  constexpr double own_weight = 1;
  constexpr double believable = 3;
  std::ranges::sort(sample, {}, &Weighted::value);
  const auto with = [&](double value) {
    Sample all;
    all.reserve(sample.size() + 1);
    const auto at = std::ranges::upper_bound(sample, value, {}, &Weighted::value);
    all.insert(all.end(), sample.begin(), at);
    all.push_back({value, own_weight});
    all.insert(all.end(), at, sample.end());
    return all;
  };
  return {quantile_of_sorted(with(-believable * spread), tail),
          quantile_of_sorted(with(believable * spread), 1 - tail)};
}

}  // namespace schedmate::advisor
