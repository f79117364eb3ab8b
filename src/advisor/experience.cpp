// SPDX-License-Identifier: Apache-2.0
#include "advisor/experience.hpp"

#include <algorithm>

namespace schedmate::advisor {

double trust_after(std::size_t overruns, std::size_t jobs) {
  // A past of ten jobs with one overrun stands for the unknown user.
  constexpr double usual = 0.1;
  constexpr double least = 0.1;
  const double share = static_cast<double>(overruns + 1) / static_cast<double>(jobs + 10);
  return std::clamp(usual / share, least, 1.0);
}

}  // namespace schedmate::advisor
