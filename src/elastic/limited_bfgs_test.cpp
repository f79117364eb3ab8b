// SPDX-License-Identifier: Apache-2.0
#include "elastic/limited_bfgs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.hpp"
#include "elastic/line_search.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/near.hpp"

namespace schedmate::elastic {
namespace {

using testing::near;

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Rosenbrock's valley over each pair of neighbours: 0 where all variables are 1.
QuadraticModel bfgs_valley(const SearchPoint& at, std::size_t count) {
  QuadraticModel model;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    const double off = at[i + 1] - at[i] * at[i];
    const double left = 1 - at[i];
    model.value += 100 * off * off + left * left;
    model.gradient[i] += -400 * at[i] * off - 2 * left;
    model.gradient[i + 1] += 200 * off;
  }
  return model;
}

/// A search in the valley, and what scipy's L-BFGS-B (1.17, tol = 1e-5) came to.
struct ValleySearch {
  std::vector<double> start, lower, upper;
  int evaluations;
  double value;
};

BoundedFunction function_of(const ValleySearch& search) {
  BoundedFunction function;
  std::ranges::copy(search.lower, function.lower.begin());
  std::ranges::copy(search.upper, function.upper.begin());
  const std::size_t count = search.start.size();
  function.model_at = [count](const SearchPoint& at) { return bfgs_valley(at, count); };
  return function;
}

Minimum minimum_of(const ValleySearch& search, const LimitedBfgsLimits& limits = {}) {
  SearchPoint start{};
  std::ranges::copy(search.start, start.begin());
  return limited_bfgs_minimum(function_of(search), start, limits);
}

const std::vector<ValleySearch> valley_searches = {
    {{-1.2, 1}, {-1e9, -1e9}, {infinite, infinite}, 43, 5.2985e-10},
    {{-1.2, 1}, {-2, -2}, {0.5, infinite}, 29, 0.25},
    {{-1.2, 1, -1.2, 1}, {-2, -2, -2, -2}, {infinite, infinite, infinite, infinite}, 11, 3.7070116},
    {{2, 2, 2, 2, 2},
     {1.2, -infinite, -infinite, -infinite, -infinite},
     {infinite, 1.3, infinite, infinite, infinite},
     31,
     5.5478338},
    {{-1.2, 1, -1.2, 1, -1.2, 1, -1.2},
     {-3, -3, -3, -3, -3, -3, -3},
     {infinite, infinite, infinite, infinite, infinite, infinite, infinite},
     13,
     6.6359025},
};

TEST_CASE("as many evaluations as scipy's L-BFGS-B in Rosenbrock's valley, to the same value") {
  for (const ValleySearch& search : valley_searches) {
    CAPTURE(search.start.size());
    const Minimum minimum = minimum_of(search);
    CHECK(minimum.found);
    CHECK(minimum.evaluations == search.evaluations);
    CHECK(near(minimum.value, search.value, 1e-4, 0));
  }
}

TEST_CASE("tight limits: to the minimum itself") {
  for (const ValleySearch& search : valley_searches) {
    const Minimum minimum = minimum_of(search, {.decrease = 0, .slope = 1e-9});
    const BoundedFunction function = function_of(search);
    const SearchPoint gradient = function.model_at(minimum.at).gradient;
    for (std::size_t i = 0; i < most_variables; ++i) {
      CHECK(minimum.at[i] >= function.lower[i]);
      CHECK(minimum.at[i] <= function.upper[i]);
      if (minimum.at[i] > function.lower[i]) CHECK(gradient[i] < 1e-5);
      if (minimum.at[i] < function.upper[i]) CHECK(gradient[i] > -1e-5);
    }
  }
}

TEST_CASE("a start at the minimum, or with all variables fixed, is the end") {
  const Minimum there = minimum_of({{1, 1}, {-2, -2}, {2, 2}, 0, 0});
  CHECK(there.found);
  CHECK(there.evaluations == 1);
  const Minimum fixed = minimum_of({{5, 5}, {-1, 2}, {-1, 2}, 0, 0});
  CHECK(fixed.found);
  CHECK(fixed.evaluations == 1);
  CHECK(fixed.at[0] == -1);
  CHECK(fixed.at[1] == 2);
}

TEST_CASE("few evaluations: what was found until then, not higher than the start") {
  const ValleySearch& search = valley_searches.front();
  const double first = minimum_of(search, {.evaluations = 1}).value;
  const Minimum some = minimum_of(search, {.evaluations = 10});
  CHECK_FALSE(some.found);
  CHECK(some.value < first);
}

/// Sum of weight x (variable - target)^2 along turned axes.
struct RandomBowl {
  SearchMatrix axes{};
  SearchPoint targets{};

  explicit RandomBowl(Random& random) {
    for (SearchPoint& axis : axes) {
      for (double& each : axis) each = random.normal();
    }
    for (double& each : targets) each = random.normal();
  }

  [[nodiscard]] QuadraticModel at(const SearchPoint& point) const {
    QuadraticModel model;
    for (std::size_t i = 0; i < most_variables; ++i) {
      double off = -targets[i];
      for (std::size_t j = 0; j < most_variables; ++j) off += axes[i][j] * point[j];
      model.value += off * off;
      for (std::size_t j = 0; j < most_variables; ++j) model.gradient[j] += 2 * off * axes[i][j];
    }
    return model;
  }
};

TEST_CASE("random bowls in random bounds: no variable can go further down") {
  for (std::uint64_t seed = 0; seed < testing::cases(300); ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const RandomBowl bowl(random);
    BoundedFunction function;
    SearchPoint start{};
    for (std::size_t i = 0; i < most_variables; ++i) {
      function.lower[i] = random.uniform() < 0.3 ? -infinite : -random.uniform();
      function.upper[i] = random.uniform() < 0.3 ? infinite : random.uniform();
      start[i] = 3 * random.normal();
    }
    function.model_at = [&bowl](const SearchPoint& at) { return bowl.at(at); };
    const Minimum minimum = limited_bfgs_minimum(function, start, {.decrease = 0, .slope = 1e-7});
    const SearchPoint gradient = bowl.at(minimum.at).gradient;
    for (std::size_t i = 0; i < most_variables; ++i) {
      if (minimum.at[i] > function.lower[i]) CHECK(gradient[i] < 1e-4);
      if (minimum.at[i] < function.upper[i]) CHECK(gradient[i] > -1e-4);
    }
  }
}

TEST_CASE("line search: the value falls enough and becomes flat, from any first length") {
  for (const double first : {1e-4, 0.1, 1.0, 7.0, 90.0}) {
    CAPTURE(first);
    // Falls steeply, then rises: lowest at length 2.
    const auto at = [](double length) {
      const double off = length - 2;
      return LinePoint{length, std::sqrt(1 + off * off), off / std::sqrt(1 + off * off)};
    };
    LineSearch line(at(0), {first, 100});
    LinePoint tried = at(first);
    int tries = 1;
    for (; !line.ends_at(tried) && tries < 20; ++tries) tried = at(line.after(tried));
    CHECK(tries < 12);
    CHECK(tried.value <= at(0).value + 1e-3 * tried.length * at(0).slope);
    CHECK(std::abs(tried.slope) <= 0.9 * std::abs(at(0).slope));
  }
}

TEST_CASE("line search: down all the way, it goes to the end") {
  const auto at = [](double length) { return LinePoint{length, -length, -1}; };
  LineSearch line(at(0), {1, 50});
  LinePoint tried = at(1);
  int tries = 0;
  while (!line.ends_at(tried) && ++tries < 20) tried = at(line.after(tried));
  CHECK(tried.length == 50);
}

}  // namespace
}  // namespace schedmate::elastic
