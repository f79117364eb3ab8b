// SPDX-License-Identifier: Apache-2.0
#include "elastic/bounded_minimum.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "base/random.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/near.hpp"

namespace schedmate::elastic {
namespace {

using testing::near;

constexpr double no_bound = 1e9;

/// All variables from `count` on are unused.
BoundedFunction unbounded(std::size_t count) {
  BoundedFunction function;
  for (std::size_t i = 0; i < count; ++i) {
    function.lower[i] = -no_bound;
    function.upper[i] = no_bound;
  }
  return function;
}

/// Adds the square of a residual that changes by `slope`.
void add_square(QuadraticModel& model, double residual, const SearchPoint& slope) {
  model.value += residual * residual;
  for (std::size_t i = 0; i < most_variables; ++i) {
    model.gradient[i] += 2 * residual * slope[i];
    for (std::size_t j = 0; j < most_variables; ++j) {
      model.curvature[i][j] += 2 * slope[i] * slope[j];
    }
  }
}

/// Rosenbrock's valley over each pair of neighbours: 0 where all variables are 1.
QuadraticModel valley(const SearchPoint& at, std::size_t count) {
  QuadraticModel model;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    SearchPoint slope{};
    slope[i] = -20 * at[i];
    slope[i + 1] = 10;
    add_square(model, 10 * (at[i + 1] - at[i] * at[i]), slope);
    slope = {};
    slope[i] = -1;
    add_square(model, 1 - at[i], slope);
  }
  return model;
}

BoundedFunction valley_of(std::size_t count) {
  BoundedFunction function = unbounded(count);
  function.model_at = [count](const SearchPoint& at) { return valley(at, count); };
  return function;
}

/// The largest derivative along which the value could still fall.
double slope_left(const BoundedFunction& function, const SearchPoint& at) {
  const QuadraticModel model = function.model_at(at);
  double left = 0;
  for (std::size_t i = 0; i < most_variables; ++i) {
    const bool stopped =
        model.gradient[i] > 0 ? at[i] == function.lower[i] : at[i] == function.upper[i];
    if (!stopped) left = std::max(left, std::abs(model.gradient[i]));
  }
  return left;
}

TEST_CASE("Rosenbrock's valley is followed to its end") {
  const Minimum two = bounded_minimum(valley_of(2), {-1.2, 1});
  CHECK(two.found);
  CHECK(near(two.at[0], 1, 1e-6, 0));
  CHECK(near(two.at[1], 1, 1e-6, 0));
  CHECK(two.evaluations < 60);
  const Minimum seven = bounded_minimum(valley_of(7), {0.5, 0.5, 2, 0.1, 1.5, 0.3, 0});
  CHECK(seven.found);
  for (const double each : seven.at) CHECK(near(each, 1, 1e-5, 0));
}

TEST_CASE("where a bound cuts the valley the minimum lies on the bound") {
  // x <= 1/2: then y = x^2 and the rest is (1 - x)^2.
  BoundedFunction cut = valley_of(2);
  cut.upper[0] = 0.5;
  const Minimum right = bounded_minimum(cut, {-1.2, 1});
  CHECK(right.at[0] == 0.5);
  CHECK(near(right.at[1], 0.25, 1e-7, 0));
  CHECK(near(right.value, 0.25, 1e-12, 0));
  // y >= 2: x is the root of 200 x (x^2 - 2) + x - 1 = 0.
  cut = valley_of(2);
  cut.lower[1] = 2;
  const Minimum above = bounded_minimum(cut, {1, 3});
  CHECK(above.at[1] == 2);
  const double x = above.at[0];
  CHECK(x > 0);
  CHECK(std::abs(200 * x * (x * x - 2) + x - 1) < 1e-4);
}

TEST_CASE("a bound that was met on the way is left again") {
  // 0 <= x <= 3 on the way from (-1.2, 1), whose way to (1, 1) leads along x < 0.
  BoundedFunction function = valley_of(2);
  function.lower[0] = 0;
  function.upper[0] = 3;
  const Minimum minimum = bounded_minimum(function, {-1.2, 5});
  CHECK(near(minimum.at[0], 1, 1e-6, 0));
  CHECK(near(minimum.at[1], 1, 1e-6, 0));
}

/// A parabola with a known lowest point, steeper in some directions than in others.
BoundedFunction random_parabola(Random& random, const SearchPoint& lowest) {
  std::array<SearchPoint, most_variables> ways;
  for (SearchPoint& way : ways) {
    const double length = std::exp(2 * random.normal());
    for (double& each : way) each = length * random.normal();
  }
  BoundedFunction function;
  for (std::size_t i = 0; i < most_variables; ++i) {
    function.lower[i] = -1 - random.uniform();
    function.upper[i] = 1 + random.uniform();
  }
  function.model_at = [ways, lowest](const SearchPoint& at) {
    QuadraticModel model;
    for (const SearchPoint& way : ways) {
      double residual = 0;
      for (std::size_t i = 0; i < most_variables; ++i) residual += way[i] * (at[i] - lowest[i]);
      add_square(model, residual, way);
    }
    return model;
  };
  return function;
}

TEST_CASE("random parabolas within bounds: no way down is left, and the bounds hold") {
  for (std::uint64_t seed = 0; seed < testing::cases(300); ++seed) {
    CAPTURE(seed);
    Random random(seed);
    SearchPoint lowest;
    for (double& each : lowest) each = 1.5 * random.normal();
    const BoundedFunction function = random_parabola(random, lowest);
    SearchPoint start;
    for (double& each : start) each = 2 * random.normal();
    const Minimum minimum = bounded_minimum(function, start);
    CHECK(minimum.found);
    for (std::size_t i = 0; i < most_variables; ++i) {
      CHECK(minimum.at[i] >= function.lower[i]);
      CHECK(minimum.at[i] <= function.upper[i]);
    }
    const double steepest = std::sqrt(function.model_at({}).value) + 1;
    CHECK(slope_left(function, minimum.at) < 1e-4 * steepest);
  }
}

TEST_CASE("variables with equal bounds stay, also those that the function would move") {
  BoundedFunction function = valley_of(3);
  function.lower[2] = function.upper[2] = 4;
  const Minimum minimum = bounded_minimum(function, {0, 0, 7});
  CHECK(minimum.at[2] == 4);
  CHECK(minimum.at[3] == 0);
  CHECK(slope_left(function, minimum.at) < 1e-4);
}

TEST_CASE("a kink is reached by parabolas that touch the function from above") {
  // |x - 3| + (y + x)^2: the parabola through (x, |x - 3|) is (x - 3)^2 / (2 |x - 3|) and more.
  BoundedFunction function = unbounded(2);
  function.model_at = [](const SearchPoint& at) {
    QuadraticModel model;
    const double apart = std::max(std::abs(at[0] - 3), 1e-9);
    add_square(model, at[0] + at[1], {1, 1});
    model.value += apart;
    model.gradient[0] += (at[0] - 3) / apart;
    model.curvature[0][0] += 1 / apart;
    return model;
  };
  const Minimum minimum = bounded_minimum(function, {-50, 20});
  CHECK(near(minimum.at[0], 3, 1e-6, 0));
  CHECK(near(minimum.at[1], -3, 1e-6, 0));
}

TEST_CASE("a model that is wrong about the curvature is corrected") {
  for (const double wrong : {0.05, 0.3, 4.0, 8.0}) {
    CAPTURE(wrong);
    BoundedFunction function = unbounded(2);
    function.model_at = [wrong](const SearchPoint& at) {
      QuadraticModel model = valley(at, 2);
      for (SearchPoint& row : model.curvature)
        for (double& each : row) each *= wrong;
      return model;
    };
    const Minimum minimum = bounded_minimum(function, {-1.2, 1}, {.evaluations = 2000});
    CHECK(minimum.value < 1e-8);
  }
}

TEST_CASE("no step is longer than allowed, and the evaluations are counted") {
  BoundedFunction function = unbounded(1);
  double before = 0;
  double longest = 0;
  int calls = 0;
  function.model_at = [&](const SearchPoint& at) {
    if (calls++ > 0) longest = std::max(longest, std::abs(at[0] - before));
    before = at[0];
    QuadraticModel model;
    add_square(model, at[0] - 100, {1});
    return model;
  };
  const Minimum all = bounded_minimum(function, {0}, {.largest_step = 3});
  CHECK(near(all.at[0], 100, 1e-9, 0));
  CHECK(near(longest, 3, 1e-12, 0));
  CHECK(calls == all.evaluations);
  calls = 0;
  const Minimum some = bounded_minimum(function, {0}, {.largest_step = 3, .evaluations = 5});
  CHECK(!some.found);
  CHECK(calls == 5);
  CHECK(near(some.at[0], 12, 1e-12, 0));  // four steps
  CHECK(near(some.value, 88 * 88, 1e-12, 0));
}

TEST_CASE("where the function is not a number the search turns back") {
  BoundedFunction function = unbounded(1);
  function.model_at = [](const SearchPoint& at) {
    QuadraticModel model;
    if (at[0] < 1) {
      model.value = std::numeric_limits<double>::quiet_NaN();
      return model;
    }
    add_square(model, std::sqrt(at[0] - 1) + 1, {0.5 / std::sqrt(at[0] - 0.999)});
    return model;
  };
  const Minimum minimum = bounded_minimum(function, {9});
  CHECK(minimum.value < 16);
  CHECK(minimum.at[0] >= 1);
}

}  // namespace
}  // namespace schedmate::elastic
