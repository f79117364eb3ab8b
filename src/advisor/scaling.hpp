// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How much longer our job takes than one that differs from it in length, batch or GPUs only.
///
/// A step over b samples per device on g devices takes time in proportion to b^0.9 * g^0.1: bigger
/// batches use a device a little better, more devices talk more. The rest follows: a job counted in
/// steps takes steps * b^0.9 * g^0.1, one counted in epochs or samples takes
/// samples / (b * g) * b^0.9 * g^0.1.

#include <string>
#include <vector>

#include "advisor/fields.hpp"

namespace schedmate::advisor {

inline constexpr double batch_exponent = 0.9;
inline constexpr double device_exponent = 0.1;

struct Scaling {
  double factor = 1;             ///< duration of ours / duration of theirs
  std::vector<std::string> why;  ///< "length x2"; empty when nothing scales
};

/// Differences that are not known on both sides scale nothing.
[[nodiscard]] Scaling scale_between(const Fields& ours, const Fields& theirs);

}  // namespace schedmate::advisor
