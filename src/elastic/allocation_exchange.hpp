// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Jobs that hold GPUs which others would use better change places; where it makes no difference,
/// the earlier job has the better place.

#include <vector>

#include "elastic/allocation_repair.hpp"

namespace schedmate::elastic {

/// Kept for its memory.
class AllocationExchange {
 public:
  /// `choice` keeps its GPUs of each shape; its score never falls.
  void improve(const AllocationTable& table, TableChoice& choice);

 private:
  /// A job that has one of two places and could have the other.
  struct Seat {
    std::uint64_t pair = 0;  ///< the two shapes, the lower number in the high half
    Score gain = 0;          ///< of the second place over the first
    std::int32_t job = 0;
    std::int32_t first = no_option;
    std::int32_t second = no_option;
    bool at_second = false;
  };
  bool sweep(const AllocationTable& table, TableChoice& choice);
  void collect(const AllocationTable& table, const TableChoice& choice);
  bool settle(const AllocationTable& table, std::size_t begin, std::size_t end,
              TableChoice& choice);

  std::vector<Seat> seats_;
  std::vector<Seat> present_;
  std::vector<char> taken_;  ///< of a shape: some job has it
};

}  // namespace schedmate::elastic
