// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Branch and bound over the core, job by job. All states of one depth are kept side by side; of
/// those that leave the same GPUs only the best goes on, of too many the most promising. Whatever
/// was left out is known by its bound. No memory is taken per node.

#include <vector>

#include "elastic/allocation_core.hpp"

namespace schedmate::elastic {

/// What a search is to do.
struct SearchGoal {
  double ceiling = 0;      ///< no allocation is worth more, in units
  std::int64_t step = 1;   ///< units by which one must be better to count; 0: any better score
  std::int64_t nodes = 0;  ///< at most
  std::size_t width = 0;   ///< states of one depth that go on
  bool near_best = false;  ///< start from the best allocation where that loses next to nothing:
                           ///< finds better ones sooner, proves a little later
};

struct SearchReport {
  double ceiling = 0;      ///< no allocation that would count is worth more, in units
  bool complete = true;    ///< none that would count is left
  std::int64_t nodes = 0;  ///< used
};

/// Kept for its memory.
class AllocationSearch {
 public:
  /// `best` fits; it is replaced by what is better by the goal's step.
  SearchReport run(const AllocationTable& table, const std::vector<double>& prices,
                   const SearchGoal& goal, TableChoice& best);

 private:
  /// Options of the jobs down to some depth; the other jobs are as in the start.
  struct State {
    std::uint64_t key = 0;
    double loss = 0;
    double bound = 0;  ///< least loss of all that can come of it
    Score score = 0;
    std::int32_t trail = -1;
  };
  struct Layer {
    std::vector<State> states;
    std::vector<std::int64_t> rooms;  ///< free GPUs of each type, state after state
    void clear() {
      states.clear();
      rooms.clear();
    }
  };
  /// One job that left the start, and where the one before it is.
  struct Trail {
    std::int32_t before = -1;
    std::int32_t job = 0;
    std::int32_t option = no_option;
  };

  void begin(const AllocationTable& table, const std::vector<double>& prices, TableChoice& best);
  void aim(const AllocationTable& table, Score best);
  void expand(std::size_t depth, const AllocationTable& table);
  void insert(const State& state);
  void consider(const State& state, const AllocationTable& table);
  [[nodiscard]] std::size_t find(std::uint64_t key) const;
  void grow();
  void cut(const std::vector<double>& prices);
  void drop(const State& state);

  SearchGoal goal_;
  SearchReport report_;
  double budget_ = 0;   ///< loss up to which an allocation counts
  double dropped_ = 0;  ///< least bound of a state left out
  Score wanted_ = 0;    ///< score from which on an allocation counts
  std::int32_t found_ = -1;
  TableChoice start_;
  AllocationCore core_;
  Layer now_, next_;
  std::vector<Trail> trails_;
  std::vector<std::int32_t> slots_;  ///< hash table of next_
  std::vector<std::int64_t> room_;   ///< of the state being made
  std::vector<std::pair<double, std::uint64_t>> ranks_, ranked_;
};

}  // namespace schedmate::elastic
