// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Work left when `rate` is subtracted once a second, in floating point, with the very roundings
/// that doing so one subtraction at a time gives, but in closed form: while the
/// value stays between two powers of two every subtraction takes off the same multiple of the unit
/// in the last place, so a whole such stretch is one exact multiplication.

#include <cstdint>

namespace schedmate {

/// Number of subtractions of `rate` after which `work` is <= 0; 0 when it already is. `rate` > 0.
[[nodiscard]] std::int64_t steps_to_zero(double work, double rate);

/// `work` after `steps` subtractions of `rate`.
[[nodiscard]] double after_steps(double work, double rate, std::int64_t steps);

}  // namespace schedmate
