// SPDX-License-Identifier: Apache-2.0
#include "core/countdown.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace schedmate {
namespace {

struct Stretch {
  double work;
  std::int64_t steps;
};

/// Takes as many of `limit` subtractions as keep the value above `rate` and in its binade in one
/// go; at least one.
Stretch take_stretch(double work, double rate, std::int64_t limit) {
  const Stretch single{work - rate, 1};
  const int exponent = std::ilogb(work);
  const double floor = std::ldexp(1.0, exponent);  // the binade is [floor, 2 * floor)
  const double unit = std::ldexp(1.0, exponent - 52);
  const double fraction = std::fmod(rate, unit);
  // A tie rounds to even, hence differently from step to step; near the binade's floor the next
  // step may fall into a finer one: one at a time there.
  if (fraction * 2 == unit) return single;
  const double step = fraction * 2 > unit ? rate - fraction + unit : rate - fraction;
  const double room = work - std::max(floor, rate);
  if (step <= 0 || room < 2 * step) return single;
  const double most = std::min(std::floor(room / step) - 1, static_cast<double>(limit));
  if (most < 2) return single;
  // step and work are multiples of unit below 2^53 units, so this is exact.
  return {work - most * step, static_cast<std::int64_t>(most)};
}

}  // namespace

std::int64_t steps_to_zero(double work, double rate) {
  std::int64_t steps = 0;
  while (work > 0) {
    const Stretch stretch = take_stretch(work, rate, std::numeric_limits<std::int64_t>::max());
    work = stretch.work;
    steps += stretch.steps;
  }
  return steps;
}

double after_steps(double work, double rate, std::int64_t steps) {
  // Below zero the value no longer shrinks in magnitude; runs end there, so few steps are left.
  while (steps > 0) {
    const Stretch stretch = work > 0 ? take_stretch(work, rate, steps) : Stretch{work - rate, 1};
    work = stretch.work;
    steps -= stretch.steps;
  }
  return work;
}

}  // namespace schedmate
