// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The members of Pollux's population: how they are crossed, mutated, repaired and
/// rated. Only what differs from the parents is rated again, and nothing is allocated.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "elastic/pollux_population.hpp"

namespace schedmate::elastic {

/// How a job is spread in a member.
struct RowSize {
  std::int32_t nodes = 0, gpus = 0;
};

/// What a row is worth to both objectives.
struct RowValue {
  double term = 0;  ///< its part of the power mean
  double speedup = 0;
  std::uint64_t hash = 0;
};

/// Speedups by nodes and GPUs, asked for once.
class RowValues {
 public:
  RowValues(const PopulationProblem& problem, double power);
  [[nodiscard]] RowValue of(std::size_t job, RowSize size, bool moved);
  /// Of the sum of terms.
  [[nodiscard]] double mean(double sum) const;

 private:
  struct Known {
    double speedup = -1;
    std::array<double, 2> terms{};  // where it is, elsewhere
  };
  [[nodiscard]] double term(double speedup) const;

  const PopulationProblem& problem_;
  double power_;
  std::vector<Known> known_;
  std::vector<std::size_t> offsets_, strides_;
};

/// Both are made small.
struct Objectives {
  double mean = 0, utility = 0;
};

/// Members by slot. `problem` must outlive them.
class PolluxMembers {
 public:
  PolluxMembers(const PopulationProblem& problem, double power, std::size_t slots);

  /// GPUs of a job by node, then zeros up to the row's end.
  [[nodiscard]] std::span<std::uint8_t> row(std::size_t slot, std::size_t job) {
    return {genes_.data() + (slot * jobs_ + job) * stride_, stride_};
  }
  [[nodiscard]] std::span<const std::uint8_t> held(std::size_t job) const {
    return {held_.data() + job * stride_, stride_};
  }
  [[nodiscard]] std::size_t stride() const { return stride_; }
  [[nodiscard]] const Objectives& objectives(std::size_t slot) const { return objectives_[slot]; }
  /// Of all rows: equal members have equal ones.
  [[nodiscard]] std::uint64_t hash(std::size_t slot) const { return hashes_[slot]; }

  /// Of rows that were written with row() makes a solution, with pinned jobs where they are.
  void make_whole(std::size_t slot, Random& random);

  /// Two parents, and the job from which on the rows are the second one's.
  struct Crossing {
    std::size_t first = 0, second = 0, point = 0;
  };
  /// A mutated solution.
  void breed(std::size_t child, const Crossing& crossing, Random& random);

 private:
  [[nodiscard]] std::vector<std::uint8_t> padded(const NodeGpus& row) const;
  void mutate(std::span<std::uint8_t> mine, std::size_t job, Random& random);
  void grow(std::size_t slot, Random& random);
  void repair(std::size_t slot, Random& random);
  bool part_ways(std::span<std::uint8_t> mine);
  void trim(std::span<std::uint8_t> mine, std::int32_t most, Random& random);
  void evaluate(std::size_t slot);

  const PopulationProblem& problem_;
  RowValues values_;
  std::size_t jobs_, stride_;
  std::size_t pinned_ = 0;
  std::vector<std::uint8_t> genes_;
  std::vector<RowValue> row_values_;
  std::vector<Objectives> objectives_;
  std::vector<std::uint64_t> hashes_;
  std::vector<std::uint8_t> held_, room_, capacity_;
  std::vector<std::uint8_t> used_, left_, taken_, changed_;  // of the member that is being made
  std::vector<std::size_t> order_;
};

}  // namespace schedmate::elastic
