// SPDX-License-Identifier: Apache-2.0
#include "elastic/allocation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "elastic/allocation_exchange.hpp"
#include "elastic/allocation_prices.hpp"
#include "elastic/allocation_search.hpp"

namespace schedmate::elastic {

struct AllocationSolver::Work {
  AllocationTable table;
  std::vector<double> prices;  ///< in units
  PriceSearch price_search;
  AllocationRepair repair;
  AllocationSearch search;
  AllocationExchange exchange;
  TableChoice choice;
  double ceiling = 0;       ///< no allocation is worth more, in units
  std::int64_t proven = 0;  ///< units that no allocation exceeds
  std::int64_t nodes = 0;

  double nothing = 0;  ///< objective when no job gets anything but the pinned ones
  double gained = 1;   ///< by which gains change it: 1 or -1

  void bound(std::vector<double>& multipliers);
  void close_gap(const AllocationLimits& limits);
  void settle_ties(std::int64_t limit);
  void copy_choice(std::vector<std::int32_t>& to) const;
  [[nodiscard]] std::int64_t nearness(double gap) const;
  [[nodiscard]] std::int64_t units() const { return table.units(choice.score); }
  [[nodiscard]] std::int64_t whole(double worth) const {
    return static_cast<std::int64_t>(std::floor(worth + table.tie_cost + 1e-9 + 1e-12 * worth));
  }
  /// Units that rounding may have moved.
  [[nodiscard]] std::int64_t blur() const { return table.exact ? 0 : table.jobs(); }
};

/// Bound at the best prices, and an allocation near them.
void AllocationSolver::Work::bound(std::vector<double>& multipliers) {
  multipliers.resize(table.free.size(), 0);
  prices.resize(multipliers.size());
  for (std::size_t i = 0; i < prices.size(); ++i) prices[i] = multipliers[i] / table.unit;
  ceiling = price_search.minimise(table, prices);
  for (std::size_t i = 0; i < prices.size(); ++i) multipliers[i] = prices[i] * table.unit;
  choose_at(table, prices, choice);
  repair.repair(table, prices, choice);
  proven = whole(ceiling);
}

/// Units that the allocation may be away from the best.
std::int64_t AllocationSolver::Work::nearness(double gap) const {
  const double objective = nothing + gained * table.unit * static_cast<double>(units());
  const double allowed = std::min(gap * std::abs(objective) / table.unit, 0x1p52);
  return std::max(blur(), static_cast<std::int64_t>(allowed));
}

/// Searches ever wider, each time from the best allocation so far, until nothing is left out.
void AllocationSolver::Work::close_gap(const AllocationLimits& limits) {
  for (std::size_t width = 64; nodes < limits.nodes; width *= 8) {
    const std::int64_t near = nearness(limits.gap);
    if (proven - units() <= near) return;
    const SearchReport report = search.run(table, prices,
                                           {.ceiling = ceiling,
                                            .step = near + 1,
                                            .nodes = limits.nodes - nodes,
                                            .width = width,
                                            .near_best = width <= 512},
                                           choice);
    nodes += report.nodes;
    proven = std::min(proven, report.complete ? units() + near : whole(report.ceiling));
    proven = std::max(proven, units());
  }
}

void AllocationSolver::Work::settle_ties(std::int64_t limit) {
  constexpr std::int64_t enough = 20'000;
  const SearchGoal goal{.ceiling = ceiling,
                        .step = 0,
                        .nodes = std::min(limit - nodes, enough),
                        .width = 256,
                        .near_best = true};
  if (proven <= units() && goal.nodes > 0) {
    nodes += search.run(table, prices, goal, choice).nodes;
  }
  repair.fill(table, prices, choice);
  exchange.improve(table, choice);
  repair.fill(table, prices, choice);
}

void AllocationSolver::Work::copy_choice(std::vector<std::int32_t>& to) const {
  for (std::size_t i = 0; i < table.origin.size(); ++i) {
    const std::int32_t option = choice.option[i];
    to[static_cast<std::size_t>(table.origin[i])] =
        option == no_option ? no_option : table.choice[static_cast<std::size_t>(option)];
  }
}

double Allocation::gap() const {
  const double apart = std::abs(objective - bound);
  if (apart == 0) return 0;
  return objective == 0 ? std::numeric_limits<double>::infinity() : apart / std::abs(objective);
}

AllocationSolver::AllocationSolver(AllocationLimits limits) : limits_(limits) {}
AllocationSolver::AllocationSolver(const AllocationSolver& other)
    : limits_(other.limits_), multipliers_(other.multipliers_) {}
AllocationSolver::AllocationSolver(AllocationSolver&& other) noexcept = default;
AllocationSolver& AllocationSolver::operator=(AllocationSolver other) noexcept {
  limits_ = other.limits_;
  multipliers_ = std::move(other.multipliers_);
  work_ = std::move(other.work_);
  return *this;
}
AllocationSolver::~AllocationSolver() = default;

Allocation AllocationSolver::solve(const AllocationProblem& problem) {
  Allocation result;
  for (const AllocationJob& job : problem.jobs) result.choice.push_back(job.pinned);
  const auto set_objective = [&] {
    result.objective = 0;
    for (std::size_t i = 0; i < problem.jobs.size(); ++i) {
      const std::int32_t chosen = result.choice[i];
      result.objective += chosen == no_option
                              ? problem.without
                              : problem.jobs[i].options[static_cast<std::size_t>(chosen)].value;
    }
    result.bound = result.objective;
  };
  if (!work_) work_ = std::make_unique<Work>();
  Work& work = *work_;
  result.feasible = tabulate(problem, limits_.step, work.table);
  if (!result.feasible) return result;
  set_objective();
  if (work.table.jobs() == 0) return result;
  work.nothing = result.objective;
  work.gained = problem.maximise ? 1 : -1;
  work.nodes = 0;
  work.bound(multipliers_);
  work.close_gap(limits_);
  work.settle_ties(limits_.nodes);
  work.copy_choice(result.choice);
  set_objective();
  result.nodes = work.nodes;
  const std::int64_t apart = work.proven - work.units();
  if (apart > work.blur()) {
    result.bound += work.gained * work.table.unit * static_cast<double>(apart + work.blur());
  }
  return result;
}

}  // namespace schedmate::elastic
