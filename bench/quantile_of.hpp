// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace schedmate {

/// The value of the nearest rank; 0 of none.
[[nodiscard]] inline double quantile_of(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto at = values.begin() + std::lround(share * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, at);
  return *at;
}

}  // namespace schedmate
