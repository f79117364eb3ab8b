// SPDX-License-Identifier: Apache-2.0
#pragma once

/// An allocation problem made small and flat: pinned jobs taken out, options that never pay left
/// out, values as integers in which the order of ties is written below the objective.

#include <cstdint>
#include <vector>

#include "elastic/allocation.hpp"

namespace schedmate::elastic {

/// One number to make large: objective first, then held options kept, then GPUs saved. Zero is a
/// job that gets nothing.
using Score = std::int64_t;

/// GPU type and count; jobs share few of them.
struct AllocationShape {
  std::uint16_t type = 0;
  std::int32_t gpus = 0;
  bool operator==(const AllocationShape&) const = default;
};

/// Jobs and their options are numbered again, the options of a job one after the other.
struct AllocationTable {
  std::vector<std::int64_t> free;  ///< GPUs of each type beside the pinned jobs'
  std::vector<AllocationShape> shapes;
  std::vector<std::int32_t> origin;  ///< job in the problem
  std::vector<std::int32_t> first;   ///< option a job begins at; one more at the end
  std::vector<Score> score;          ///< of an option
  std::vector<double> worth;         ///< of an option, in units
  std::vector<std::int32_t> shape;   ///< of an option
  std::vector<std::int32_t> choice;  ///< of an option: what the problem calls it
  double unit = 1;                   ///< value of one unit of the objective
  int shift = 1;                     ///< a unit is 2^shift of score
  double tie_cost = 0;               ///< units that preferences take off a score at most
  bool exact = true;                 ///< values are whole units

  [[nodiscard]] std::int32_t jobs() const { return static_cast<std::int32_t>(origin.size()); }
  [[nodiscard]] std::int32_t begin(std::int32_t job) const {
    return first[static_cast<std::size_t>(job)];
  }
  [[nodiscard]] std::int32_t end(std::int32_t job) const {
    return first[static_cast<std::size_t>(job) + 1];
  }
  [[nodiscard]] AllocationShape shape_of(std::int32_t option) const {
    return shapes[static_cast<std::size_t>(shape[static_cast<std::size_t>(option)])];
  }
  [[nodiscard]] Score score_of(std::int32_t option) const {
    return option == no_option ? 0 : score[static_cast<std::size_t>(option)];
  }
  /// Whole units of the objective; preferences among ties stay below a quarter.
  [[nodiscard]] std::int64_t units(Score value) const {
    return (value + (Score{1} << (shift - 1))) >> shift;
  }
};

/// Fills `table`, whose memory is reused; false when the pinned jobs do not fit together.
[[nodiscard]] bool tabulate(const AllocationProblem& problem, double step, AllocationTable& table);

/// What an option gains over none, in the problem's own values.
[[nodiscard]] inline double allocation_gain(const AllocationProblem& problem, double value) {
  return problem.maximise ? value - problem.without : problem.without - value;
}

}  // namespace schedmate::elastic
