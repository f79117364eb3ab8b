// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The jobs whose option is in doubt, the most doubtful first, and what it costs at least to put
/// right with them too many or too few GPUs taken.
///
/// At the prices every option of a job falls short of the job's best one by its loss; a GPU that
/// stays free loses its price. An allocation is worth the bound less all its losses (reduced-cost
/// fixing). Hence an option that loses more than the budget, the bound less what an
/// allocation has to reach, is out of the question, and most jobs are left with one.

#include <span>
#include <vector>

#include "elastic/allocation_repair.hpp"

namespace schedmate::elastic {

/// A way to go on with a job, against its option in the start.
struct CoreEntry {
  double loss = 0;
  Score score = 0;
  std::uint64_t key = 0;  ///< what it changes in the key of a state
  std::int32_t option = no_option;
  AllocationShape freed;  ///< 0 GPUs: none
  AllocationShape taken;
};

/// A sum of multiples that distinguishes states of different room, nearly always.
[[nodiscard]] std::uint64_t key_of_gpus(const AllocationShape& shape);

/// What it costs at least to ease or to use GPUs of a type with the jobs from some depth on.
class CapacityBounds {
 public:
  void reset(std::span<const double> prices, std::size_t depths);
  /// For `depth`, from the entries of its job; the depths go downwards.
  void add(std::size_t depth, std::span<const CoreEntry> entries);
  /// Least loss of all that can be done from `depth` on about `room` (below 0: too few).
  [[nodiscard]] double least(std::size_t depth, std::span<const std::int64_t> room) const;

 private:
  static constexpr std::size_t most = 32;  ///< GPUs up to which the losses are exact
  /// Of one depth and type.
  struct Row {
    double ease[most + 1];  ///< losing at least this many GPUs too many
    double use[most + 1];   ///< using this many free ones, or leaving them
    double ease_rate;       ///< for each GPU, at least
    double use_rate;
  };
  static void ease_by(Row& row, const Row& later, std::size_t gpus, double loss);
  static void use_by(Row& row, const Row& later, std::size_t gpus, double loss);

  std::size_t types_ = 0;
  std::vector<Row> rows_;
};

/// Kept for its memory.
class AllocationCore {
 public:
  /// Jobs and options that a loss within `budget` allows, against `start`.
  void build(const AllocationTable& table, const std::vector<double>& prices,
             const TableChoice& start, double budget);
  [[nodiscard]] std::size_t size() const { return jobs_.size(); }
  [[nodiscard]] std::int32_t job(std::size_t depth) const { return jobs_[depth].job; }
  /// Least loss of leaving the start at any depth from this one on.
  [[nodiscard]] double doubt(std::size_t depth) const { return jobs_[depth].doubt; }
  [[nodiscard]] std::span<const CoreEntry> entries(std::size_t depth) const {
    return {entries_.data() + first_[depth], first_[depth + 1] - first_[depth]};
  }
  [[nodiscard]] const CapacityBounds& losses() const { return losses_; }

 private:
  struct UndecidedJob {
    double doubt = 0;  ///< least loss of another option than the start's
    double best = 0;   ///< what the best option is worth less its price
    std::int32_t job = 0;
  };
  void add_entries(const AllocationTable& table, const UndecidedJob& undecided,
                   std::int32_t started, double budget);

  std::vector<double> cost_;  ///< of a shape
  std::vector<UndecidedJob> jobs_;
  std::vector<CoreEntry> entries_;
  std::vector<std::size_t> first_;
  CapacityBounds losses_;
};

}  // namespace schedmate::elastic
