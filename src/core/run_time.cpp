// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <schedmate/run_time.hpp>

namespace schedmate {

FractionalSeconds RunTimeDistribution::quantile(double share) const {
  constexpr double low = 0.1;
  constexpr double middle = 0.5;
  constexpr double high = 0.9;
  if (share <= low) return p10;
  if (share >= high) return p90;
  const bool below = share < middle;
  const FractionalSeconds from = below ? p10 : p50;
  const FractionalSeconds to = below ? p50 : p90;
  const double part = (share - (below ? low : middle)) / (middle - low);
  if (!(from.count() > 0)) return from + part * (to - from);
  return from * std::pow(to / from, part);
}

RunTimeDistribution RunTimeDistribution::moved(FractionalSeconds from, FractionalSeconds to) const {
  return {to * (mean / from), to * (p10 / from), to * (p50 / from), to * (p90 / from)};
}

}  // namespace schedmate
