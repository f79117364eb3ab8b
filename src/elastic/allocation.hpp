// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which job gets how many GPUs of which type: a multiple-choice knapsack with one capacity per GPU
/// type (docs/decisions/0016-elastic.md). Each job takes one of its options or none; pinned jobs
/// keep theirs.
///
/// Prices of the GPUs bound what is possible (allocation_prices), a greedy repair makes an
/// allocation of them (allocation_repair), and a branch and bound over the jobs in doubt closes
/// the gap (allocation_core, allocation_search). Its limit is counted in nodes, not in time.
///
/// Of allocations with the same objective, first more held options count, then fewer GPUs. Two
/// jobs that could change places at no loss stand in job order: the earlier has the better place.
/// The first two are sought within a small number of nodes, hence certain for small problems only.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace schedmate::elastic {

/// One way to run a job.
struct AllocationOption {
  std::uint16_t type = 0;  ///< GPU type, an index into AllocationProblem::capacity
  std::int32_t gpus = 0;   ///< at least 1
  double value = 0;        ///< of any sign; below 1e100
};

inline constexpr std::int32_t no_option = -1;

struct AllocationJob {
  std::span<const AllocationOption> options;
  std::int32_t held = no_option;    ///< option of the round before; preferred among equal ones
  std::int32_t pinned = no_option;  ///< must be taken
};

struct AllocationProblem {
  std::vector<std::int64_t> capacity;  ///< GPUs of each type
  std::vector<AllocationJob> jobs;
  double without = 0;     ///< value of a job that gets nothing; options no better are never taken
  bool maximise = false;  ///< else the sum is made small
};

struct Allocation {
  std::vector<std::int32_t> choice;  ///< option of each job, or no_option
  double objective = 0;              ///< sum of the values
  double bound = 0;                  ///< no allocation is better than this
  std::int64_t nodes = 0;            ///< of branch and bound
  bool feasible = true;  ///< false: pinned jobs alone exceed a capacity; nothing else counts

  /// |objective - bound| / |objective|; 0 = proven optimal.
  [[nodiscard]] double gap() const;
};

struct AllocationLimits {
  /// Values and `without` are multiples of this, so a bound nearer than it proves optimality. 0, or
  /// values that are not: any values, distinguished to 1e-10 of all that the jobs could gain.
  double step = 0;
  double gap = 0;                ///< relative gap at which the search may stop
  std::int64_t nodes = 150'000;  ///< of branch and bound, about 0.1 microseconds each
};

/// Keeps the prices of the last problem, from which the next one starts; so equal sequences of
/// problems give equal answers. One for each cluster; not for several threads at once.
class AllocationSolver {
 public:
  explicit AllocationSolver(AllocationLimits limits = {});
  /// A copy goes on from the same prices.
  AllocationSolver(const AllocationSolver& other);
  AllocationSolver(AllocationSolver&& other) noexcept;
  AllocationSolver& operator=(AllocationSolver other) noexcept;
  ~AllocationSolver();

  [[nodiscard]] Allocation solve(const AllocationProblem& problem);

 private:
  struct Work;  // tables and buffers of a solve, kept for their memory

  AllocationLimits limits_;
  std::vector<double> multipliers_;  ///< price of a GPU of each type, in the problem's values
  std::unique_ptr<Work> work_;
};

}  // namespace schedmate::elastic
