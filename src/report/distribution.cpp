// SPDX-License-Identifier: Apache-2.0
#include "report/distribution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace schedmate {

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

double cdf_grid(std::size_t k) { return std::pow(10.0, static_cast<double>(k) / 36.0); }

double report::nearest_rank(std::span<const double> ascending, std::uint64_t permille) {
  if (ascending.empty()) return no_value;
  return ascending[report::rank_of(ascending.size(), permille) - 1];
}

Distribution report::distribution(std::span<const double> ascending) {
  const double sum = std::accumulate(ascending.begin(), ascending.end(), 0.0);
  return {.average = sum / static_cast<double>(ascending.size()),  // 0 / 0 = NaN when empty
          .p50 = report::nearest_rank(ascending, 500),
          .p90 = report::nearest_rank(ascending, 900),
          .p95 = report::nearest_rank(ascending, 950),
          .p99 = report::nearest_rank(ascending, 990),
          .p999 = report::nearest_rank(ascending, 999),
          .max = report::nearest_rank(ascending, 1000)};
}

RunSummary::Cdf report::cumulative(std::span<const double> ascending) {
  RunSummary::Cdf share{};
  auto above = ascending.begin();
  for (std::size_t k = 0; k < share.size(); ++k) {
    above = std::upper_bound(above, ascending.end(), cdf_grid(k));
    share[k] = static_cast<double>(above - ascending.begin()) /
               static_cast<double>(std::max<std::size_t>(1, ascending.size()));
  }
  return share;
}

double report::bounded_slowdown(Seconds jct, Seconds duration) {
  const FractionalSeconds alone = std::max(duration, report::slowdown_threshold);
  return std::max(1.0, FractionalSeconds(jct) / alone);
}

double report::jain_index(std::span<const double> values) {
  if (values.empty()) return no_value;
  double sum = 0;
  double squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  return sum * sum / (static_cast<double>(values.size()) * squares);
}

}  // namespace schedmate
