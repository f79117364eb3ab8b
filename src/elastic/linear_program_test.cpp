// SPDX-License-Identifier: Apache-2.0
#include "elastic/linear_program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/near.hpp"

namespace schedmate::elastic {
namespace {

using testing::near;

double product_of_row(const LinearProgram& program, std::size_t row,
                      const std::vector<double>& values) {
  double sum = 0;
  for (std::size_t column = 0; column < values.size(); ++column)
    sum += program.matrix[row * values.size() + column] * values[column];
  return sum;
}

bool is_feasible(const LinearProgram& program, const std::vector<double>& values) {
  for (std::size_t row = 0; row < program.limits.size(); ++row)
    if (product_of_row(program, row, values) > program.limits[row] + 1e-7) return false;
  return std::ranges::all_of(values, [](double value) { return value >= -1e-9; });
}

double value_of_point(const LinearProgram& program, const std::vector<double>& values) {
  double sum = 0;
  for (std::size_t column = 0; column < values.size(); ++column)
    sum += program.objective[column] * values[column];
  return sum;
}

/// Feasible values and prices that are worth the same prove each other.
void check_optimal(const LinearProgram& program, const LinearOptimum& found) {
  REQUIRE(is_feasible(program, found.values));
  CHECK(near(value_of_point(program, found.values), found.objective, 1e-7, 0));
  const std::size_t columns = program.objective.size();
  double bound = 0;
  for (std::size_t row = 0; row < program.limits.size(); ++row) {
    CHECK(found.prices[row] >= 0);
    bound += found.prices[row] * program.limits[row];
    const double slack = program.limits[row] - product_of_row(program, row, found.values);
    CHECK(std::abs(slack * found.prices[row]) < 1e-5);
  }
  CHECK(near(bound, found.objective, 1e-7, 0));
  for (std::size_t column = 0; column < columns; ++column) {
    double cost = -program.objective[column];
    for (std::size_t row = 0; row < program.limits.size(); ++row)
      cost += found.prices[row] * program.matrix[row * columns + column];
    CHECK(cost > -1e-6);
    CHECK(std::abs(cost * found.values[column]) < 1e-5);
  }
}

/// Solves three equations by elimination; nothing when they have no single answer.
std::vector<double> solve_equations(std::vector<std::vector<double>> equations) {
  const std::size_t count = equations.size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto pivot = std::max_element(
        equations.begin() + static_cast<std::ptrdiff_t>(i), equations.end(),
        [&](const auto& a, const auto& b) { return std::abs(a[i]) < std::abs(b[i]); });
    if (std::abs((*pivot)[i]) < 1e-9) return {};
    std::iter_swap(equations.begin() + static_cast<std::ptrdiff_t>(i), pivot);
    for (std::size_t row = 0; row < count; ++row) {
      const double factor = equations[row][i] / equations[i][i];
      for (std::size_t k = 0; row != i && k <= count; ++k)
        equations[row][k] -= factor * equations[i][k];
    }
  }
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = equations[i][count] / equations[i][i];
  return values;
}

/// All corners of a program of three columns: three of its limits and axes are met exactly.
double best_corner(const LinearProgram& program) {
  std::vector<std::vector<double>> faces;
  for (std::size_t row = 0; row < program.limits.size(); ++row) {
    const double* const from = program.matrix.data() + row * 3;
    faces.push_back({from[0], from[1], from[2], program.limits[row]});
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    faces.emplace_back(4, 0.0);
    faces.back()[axis] = 1;
  }
  double best = 0;
  for (std::size_t a = 0; a < faces.size(); ++a)
    for (std::size_t b = a + 1; b < faces.size(); ++b)
      for (std::size_t c = b + 1; c < faces.size(); ++c) {
        const auto corner = solve_equations({faces[a], faces[b], faces[c]});
        if (corner.empty() || !is_feasible(program, corner)) continue;
        best = std::max(best, value_of_point(program, corner));
      }
  return best;
}

/// Small whole numbers, so that many corners coincide; the last row bounds all columns.
LinearProgram small_program(Random& random, std::size_t rows) {
  LinearProgram program;
  for (int column = 0; column < 3; ++column)
    program.objective.push_back(static_cast<double>(random.between(-2, 6)));
  for (std::size_t row = 0; row < rows; ++row) {
    const bool last = row + 1 == rows;
    program.limits.push_back(last ? 7 : static_cast<double>(random.between(0, 5)));
    for (int column = 0; column < 3; ++column)
      program.matrix.push_back(last ? 1 : static_cast<double>(random.between(-2, 4)));
  }
  return program;
}

/// As Gavel's: each job has one row over its types, each type one over the jobs.
LinearProgram shares_program(Random& random, std::size_t jobs) {
  constexpr std::size_t types = 3;
  const std::size_t columns = jobs * types;
  LinearProgram program;
  program.matrix.assign((jobs + types) * columns, 0);
  program.limits.assign(jobs + types, 1);
  for (std::size_t type = 0; type < types; ++type)
    program.limits[jobs + type] = static_cast<double>(jobs);
  for (std::size_t job = 0; job < jobs; ++job) {
    const auto gpus = static_cast<double>(random.between(1, 16));
    for (std::size_t type = 0; type < types; ++type) {
      const std::size_t column = job * types + type;
      program.objective.push_back(0.1 + 20 * random.uniform());
      program.matrix[job * columns + column] = 1;
      program.matrix[(jobs + type) * columns + column] = gpus;
    }
  }
  return program;
}

TEST_CASE("a linear program: as good as its best corner, and proven so by its prices") {
  Random random(11);
  int positive = 0;
  for (std::uint64_t i = 0; i < testing::cases(2000); ++i) {
    const LinearProgram program = small_program(random, 2 + i % 4);
    const auto found = maximise(program);
    REQUIRE(found.has_value());
    const double best = best_corner(program);  // 0 may have been rounded
    CHECK(
        (best < 1e-9 ? near(found->objective, 0, 0, 1e-9) : near(found->objective, best, 1e-7, 0)));
    check_optimal(program, *found);
    if (found->objective > 0) ++positive;
  }
  CHECK(positive > 100);
}

TEST_CASE("a linear program of many jobs is proven optimal by its prices") {
  Random random(12);
  for (std::uint64_t i = 0; i < testing::cases(40); ++i) {
    const std::size_t jobs = 1 + static_cast<std::size_t>(random.below(80));
    const LinearProgram program = shares_program(random, jobs);
    const auto found = maximise(program);
    REQUIRE(found.has_value());
    check_optimal(program, *found);
  }
}

TEST_CASE("a linear program of a thousand jobs is proven optimal too") {
  Random random(13);
  const LinearProgram program = shares_program(random, testing::cases(1000));
  const auto found = maximise(program);
  REQUIRE(found.has_value());
  check_optimal(program, *found);
}

TEST_CASE("a linear program on which the plain rule goes round in circles ends (Beale 1955)") {
  const LinearProgram program{
      {0.75, -150, 0.02, -6}, {0, 0, 1}, {0.25, -60, -0.04, 9, 0.5, -90, -0.02, 3, 0, 0, 1, 0}};
  const auto found = maximise(program);
  REQUIRE(found.has_value());
  CHECK(near(found->objective, 0.05, 1e-12, 0));
  CHECK(near(found->values[2], 1, 1e-12, 0));
}

TEST_CASE("a linear program without rows, columns or anything to gain is at the origin") {
  CHECK(maximise({{}, {1, 2}, {}})->objective == 0);
  CHECK(maximise({{-1, 0}, {}, {}})->values == std::vector<double>{0, 0});
  // A row of zeros bounds nothing; a limit of 0 allows nothing.
  CHECK(near(maximise({{1}, {0, 5}, {0, 2}})->values[0], 2.5, 1e-12, 0));
  CHECK(maximise({{1}, {0}, {3}})->objective == 0);
}

TEST_CASE("a linear program without a bound has no answer") {
  CHECK_FALSE(maximise({{1}, {}, {}}).has_value());
  CHECK_FALSE(maximise({{1, 1}, {4}, {1, -1}}).has_value());
}

TEST_CASE("equal linear programs have equal answers") {
  Random random(14);
  const LinearProgram program = shares_program(random, 60);
  CHECK(maximise(program)->values == maximise(program)->values);
}

}  // namespace
}  // namespace schedmate::elastic
