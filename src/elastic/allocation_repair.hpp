// SPDX-License-Identifier: Apache-2.0
#pragma once

/// From prices to an allocation that fits: every job takes what is best for it at the prices, what
/// is too much is given back where that costs least, what is left over is handed out.

#include <vector>

#include "elastic/allocation_table.hpp"

namespace schedmate::elastic {

/// What each job of a table takes.
struct TableChoice {
  std::vector<std::int32_t> option;  ///< of each job, or no_option
  std::vector<std::int64_t> room;    ///< free GPUs of each type; below 0: too few
  Score score = 0;

  void clear(const AllocationTable& table);
  void take(const AllocationTable& table, std::int32_t job, std::int32_t chosen);
};

/// Every job's best option at the prices; takes more than there is, or less.
void choose_at(const AllocationTable& table, const std::vector<double>& prices,
               TableChoice& choice);

/// A change of one job's option, and how much it is worth.
struct AllocationMove {
  double merit = 0;  ///< the larger the sooner
  std::int32_t job = 0;
  std::int32_t to = no_option;
};

/// Kept for its memory.
class AllocationRepair {
 public:
  /// Makes `choice` fit, then fills what is free.
  void repair(const AllocationTable& table, const std::vector<double>& prices, TableChoice& choice);
  /// Gives what is free to whom it helps most, until no single change of one job is better.
  void fill(const AllocationTable& table, const std::vector<double>& prices, TableChoice& choice);

 private:
  /// Makes the move that `find` has for some job, the one of most merit first, until it has none;
  /// false when there was none.
  template <class FindMove>
  bool make_moves(const AllocationTable& table, TableChoice& choice, FindMove find);

  std::vector<AllocationMove> heap_;
};

}  // namespace schedmate::elastic
