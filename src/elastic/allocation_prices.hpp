// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Prices of a GPU of each type at which the jobs, each choosing for itself, bound what any
/// allocation can reach: the Lagrangian dual of the capacities, as tight as the linear relaxation.

#include <span>
#include <vector>

#include "elastic/allocation_table.hpp"

namespace schedmate::elastic {

/// The least value that all cuts allow, and where: a small linear programme over the convex
/// combinations of what the jobs chose at earlier prices, by the simplex method on T + 1 rows.
class PriceModel {
 public:
  /// Starts with the cut of nobody getting anything.
  void reset(const std::vector<std::int64_t>& free);
  /// What the jobs gain with a choice that leaves `slack` GPUs of each type (below 0: too few).
  void add(double worth, std::span<const double> slack);
  [[nodiscard]] double value() const { return dual_[0]; }
  [[nodiscard]] double price(std::size_t type) const { return -dual_[type + 1]; }

 private:
  [[nodiscard]] double coefficient(int column, std::size_t row) const;
  [[nodiscard]] double worth(int column) const;
  [[nodiscard]] double reduced(int column) const;
  void optimise();
  bool pivot(int entering);
  void set_dual();

  std::size_t rows_ = 0;
  std::vector<double> columns_;  ///< worth, then slack of each type
  std::vector<double> inverse_;  ///< of the basis, row by row
  std::vector<int> basis_;       ///< column of each row; -1 - t: unused GPUs of type t
  std::vector<double> level_;
  std::vector<double> dual_;
  std::vector<double> direction_;
};

/// Finds the prices. Kept for its memory.
class PriceSearch {
 public:
  /// Bound on the sum of worth, in units; `prices` is the start and becomes the best found.
  double minimise(const AllocationTable& table, std::vector<double>& prices);

 private:
  /// The bound at some prices; keeps what the jobs choose there as slack and worth.
  double evaluate(const AllocationTable& table, std::span<const double> prices);
  /// Worth of the best options less their price; counts the shapes chosen.
  double choose(const AllocationTable& table);

  PriceModel model_;
  std::vector<double> cost_;         ///< of a shape
  std::vector<std::int32_t> taken_;  ///< jobs that chose a shape
  std::vector<double> slack_;
  std::vector<double> trial_;
  double worth_ = 0;  ///< of the jobs' choice
};

}  // namespace schedmate::elastic
