// SPDX-License-Identifier: Apache-2.0
#include "elastic/linear_program.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.hpp"

namespace schedmate::elastic {
namespace {

constexpr double simplex_tolerance = 1e-9;  // of coefficients and, relative, of the objective
constexpr double simplex_zero = 1e-12;      // what rounding leaves where nothing should be

/// The tableau without the columns of basic variables: its last column are the limits, its last
/// row is the objective, negated. Variables: columns of the program first, then slacks of its rows.
class Simplex {
 public:
  explicit Simplex(const LinearProgram& program)
      : rows_(program.limits.size()),
        columns_(program.objective.size()),
        width_(columns_ + 1),
        cells_((rows_ + 1) * width_) {
    for (std::size_t row = 0; row < rows_; ++row) {
      const double* const from = program.matrix.data() + row * columns_;
      std::copy(from, from + columns_, &at(row, 0));
      at(row, columns_) = program.limits[row];
    }
    double largest = 0;
    for (std::size_t column = 0; column < columns_; ++column) {
      at(rows_, column) = -program.objective[column];
      largest = std::max(largest, std::abs(program.objective[column]));
    }
    least_gain_ = simplex_tolerance * largest;
    outside_.resize(columns_);
    std::iota(outside_.begin(), outside_.end(), std::size_t{0});
    basis_.resize(rows_);
    std::iota(basis_.begin(), basis_.end(), columns_);
  }

  /// False when the objective has no bound.
  bool run() {
    const auto many = static_cast<std::int64_t>(100 * (rows_ + columns_ + 10));
    for (auto column = entering(); column; column = entering()) {
      const auto row = leaving(*column);
      if (!row) return false;
      stalled_ = at(*row, columns_) <= simplex_zero;
      pivot(*row, *column);
      ++pivots_;
      SCHEDMATE_CHECK(pivots_ < many, "the simplex method ends");
    }
    return true;
  }

  [[nodiscard]] LinearOptimum optimum() const {
    LinearOptimum result;
    result.objective = at(rows_, columns_);
    result.values.resize(columns_);
    result.prices.resize(rows_);
    result.pivots = pivots_;
    for (std::size_t row = 0; row < rows_; ++row)
      if (basis_[row] < columns_) result.values[basis_[row]] = at(row, columns_);
    for (std::size_t column = 0; column < columns_; ++column) {
      if (outside_[column] < columns_) continue;
      result.prices[outside_[column] - columns_] = std::max(at(rows_, column), 0.0);
    }
    return result;
  }

 private:
  [[nodiscard]] double& at(std::size_t row, std::size_t column) {
    return cells_[row * width_ + column];
  }
  [[nodiscard]] double at(std::size_t row, std::size_t column) const {
    return cells_[row * width_ + column];
  }

  /// The column that gains most a unit. While steps have no length, the first variable that gains
  /// (Bland's rule, which cannot go round in circles).
  [[nodiscard]] std::optional<std::size_t> entering() const {
    std::optional<std::size_t> best;
    for (std::size_t column = 0; column < columns_; ++column) {
      const double gain = -at(rows_, column);
      if (gain <= least_gain_) continue;
      const bool better =
          !best || (stalled_ ? outside_[column] < outside_[*best] : gain > -at(rows_, *best));
      if (better) best = column;
    }
    return best;
  }

  /// The row that stops the column first; of several the one whose variable is first.
  [[nodiscard]] std::optional<std::size_t> leaving(std::size_t column) const {
    std::optional<std::size_t> best;
    double shortest = 0;
    for (std::size_t row = 0; row < rows_; ++row) {
      const double coefficient = at(row, column);
      if (coefficient <= simplex_tolerance) continue;
      const double step = at(row, columns_) / coefficient;
      if (best && step > shortest + simplex_zero) continue;
      if (best && step >= shortest - simplex_zero && basis_[row] > basis_[*best]) continue;
      best = row;
      shortest = step;
    }
    return best;
  }

  void pivot(std::size_t row, std::size_t column) {
    const double inverse = 1 / at(row, column);
    at(row, column) = 1;
    double* const line = &at(row, 0);
    for (std::size_t other = 0; other < width_; ++other) line[other] *= inverse;
    for (std::size_t other = 0; other <= rows_; ++other)
      if (other != row && at(other, column) != 0) subtract(other, row, column);
    std::swap(basis_[row], outside_[column]);
  }

  /// Makes the column 0 in `row` with the help of the pivot's row.
  void subtract(std::size_t row, std::size_t pivot_row, std::size_t column) {
    const double factor = at(row, column);
    at(row, column) = 0;
    double* const line = &at(row, 0);
    const double* const pivot_line = &at(pivot_row, 0);
    for (std::size_t other = 0; other < width_; ++other) {
      const double value = line[other] - factor * pivot_line[other];
      line[other] = std::abs(value) < simplex_zero ? 0 : value;
    }
    if (row < rows_) line[columns_] = std::max(line[columns_], 0.0);
  }

  std::size_t rows_, columns_, width_;
  std::vector<double> cells_;
  std::vector<std::size_t> outside_;  // variable of each column, which is 0
  std::vector<std::size_t> basis_;    // variable of each row
  double least_gain_ = 0;
  bool stalled_ = false;
  std::int64_t pivots_ = 0;
};

}  // namespace

std::optional<LinearOptimum> maximise(const LinearProgram& program) {
  SCHEDMATE_CHECK(program.matrix.size() == program.limits.size() * program.objective.size(),
                  "a coefficient for each row and column");
  SCHEDMATE_CHECK(std::ranges::all_of(program.limits, [](double limit) { return limit >= 0; }),
                  "the origin is feasible");
  Simplex simplex(program);
  if (!simplex.run()) return std::nullopt;
  return simplex.optimum();
}

}  // namespace schedmate::elastic
