// SPDX-License-Identifier: Apache-2.0
#include "elastic/allocation_search.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/random.hpp"

namespace schedmate::elastic {
namespace {

constexpr double nothing_dropped = std::numeric_limits<double>::infinity();

/// Puts what `best` has, since that fits together, wherever it is about as good.
void move_towards(const AllocationTable& table, const std::vector<double>& prices,
                  const TableChoice& best, TableChoice& start) {
  constexpr double about = 0.01;  // units
  const auto net = [&](std::int32_t option) {
    if (option == no_option) return 0.0;
    const AllocationShape shape = table.shape_of(option);
    const auto gpus = static_cast<double>(shape.gpus);
    return table.worth[static_cast<std::size_t>(option)] - prices[shape.type] * gpus;
  };
  for (std::int32_t job = 0; job < table.jobs(); ++job) {
    const std::int32_t wanted = best.option[static_cast<std::size_t>(job)];
    const std::int32_t started = start.option[static_cast<std::size_t>(job)];
    if (wanted != started && net(started) - net(wanted) < about) start.take(table, job, wanted);
  }
}

}  // namespace

SearchReport AllocationSearch::run(const AllocationTable& table, const std::vector<double>& prices,
                                   const SearchGoal& goal, TableChoice& best) {
  goal_ = goal;
  begin(table, prices, best);
  for (std::size_t depth = 0; depth < core_.size() && !now_.states.empty(); ++depth) {
    if (core_.doubt(depth) > budget_) break;  // the rest stays as in the start
    expand(depth, table);
    cut(prices);
  }
  if (wanted_ > best.score + 1) {
    best = start_;
    for (std::int32_t at = found_; at >= 0;) {
      const Trail& trail = trails_[static_cast<std::size_t>(at)];
      best.take(table, trail.job, trail.option);
      at = trail.before;
    }
  }
  report_.complete = dropped_ > budget_;
  report_.ceiling = goal_.ceiling - std::min(dropped_, budget_);
  return report_;
}

void AllocationSearch::begin(const AllocationTable& table, const std::vector<double>& prices,
                             TableChoice& best) {
  report_ = {};
  dropped_ = nothing_dropped;
  found_ = -1;
  aim(table, best.score);
  choose_at(table, prices, start_);
  if (goal_.near_best) move_towards(table, prices, best, start_);
  core_.build(table, prices, start_, budget_);
  trails_.clear();
  now_.clear();
  now_.states.push_back({.score = start_.score});
  now_.rooms = start_.room;
  room_ = start_.room;
  consider(now_.states.front(), table);
}

void AllocationSearch::aim(const AllocationTable& table, Score best) {
  wanted_ = best + 1;
  const double target = goal_.step > 0
                            ? static_cast<double>(table.units(best) + goal_.step) - table.tie_cost
                            : std::ldexp(static_cast<double>(wanted_), -table.shift);
  const double rounding = 1e-9 + 1e-12 * std::abs(goal_.ceiling);
  budget_ = goal_.ceiling - target + rounding;
}

void AllocationSearch::expand(std::size_t depth, const AllocationTable& table) {
  const std::size_t types = room_.size();
  next_.clear();
  slots_.assign(std::bit_ceil(4 * now_.states.size() + 256), -1);
  for (std::size_t i = 0; i < now_.states.size(); ++i) {
    const State from = now_.states[i];
    if (from.bound > budget_) continue;
    if (report_.nodes >= goal_.nodes) {
      drop(from);
      continue;
    }
    const std::int64_t* room = now_.rooms.data() + i * types;
    for (const CoreEntry& entry : core_.entries(depth)) {
      State to = from;
      to.loss += entry.loss;
      if (to.loss > budget_) break;
      std::copy_n(room, types, room_.data());
      room_[entry.freed.type] += entry.freed.gpus;
      room_[entry.taken.type] -= entry.taken.gpus;
      to.bound = to.loss + core_.losses().least(depth + 1, room_);
      if (to.bound > budget_) continue;
      to.key += entry.key;
      to.score += entry.score;
      if (entry.freed.gpus + entry.taken.gpus > 0) {
        trails_.push_back({from.trail, core_.job(depth), entry.option});
        to.trail = static_cast<std::int32_t>(trails_.size()) - 1;
        consider(to, table);
      }
      insert(to);
    }
  }
}

void AllocationSearch::insert(const State& state) {
  const std::size_t slot = find(state.key);
  if (slots_[slot] >= 0) {
    State& known = next_.states[static_cast<std::size_t>(slots_[slot])];
    if (known.score < state.score) known = state;
    return;
  }
  ++report_.nodes;
  slots_[slot] = static_cast<std::int32_t>(next_.states.size());
  next_.states.push_back(state);
  next_.rooms.insert(next_.rooms.end(), room_.begin(), room_.end());
  if (2 * next_.states.size() > slots_.size()) grow();
}

void AllocationSearch::consider(const State& state, const AllocationTable& table) {
  if (state.score < wanted_) return;
  if (std::ranges::any_of(room_, [](std::int64_t gpus) { return gpus < 0; })) return;
  found_ = state.trail;
  aim(table, state.score);
}

std::size_t AllocationSearch::find(std::uint64_t key) const {
  const std::size_t types = room_.size();
  std::size_t slot = mix(key) & (slots_.size() - 1);
  for (; slots_[slot] >= 0; slot = (slot + 1) & (slots_.size() - 1)) {
    const auto number = static_cast<std::size_t>(slots_[slot]);
    const std::int64_t* room = next_.rooms.data() + number * types;
    if (next_.states[number].key == key && std::equal(room_.begin(), room_.end(), room)) break;
  }
  return slot;
}

void AllocationSearch::grow() {
  slots_.assign(2 * slots_.size(), -1);
  for (std::size_t number = 0; number < next_.states.size(); ++number) {
    std::size_t slot = mix(next_.states[number].key) & (slots_.size() - 1);
    while (slots_[slot] >= 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = static_cast<std::int32_t>(number);
  }
}

void AllocationSearch::drop(const State& state) { dropped_ = std::min(dropped_, state.bound); }

/// The most promising go on: small bound, and little out of balance. Without nodes left none does.
void AllocationSearch::cut(const std::vector<double>& prices) {
  const std::size_t width = report_.nodes < goal_.nodes ? goal_.width : 0;
  if (next_.states.size() <= width) {
    std::swap(now_, next_);
    return;
  }
  const std::size_t types = room_.size();
  constexpr double balance = 0.05;
  ranks_.clear();
  for (std::size_t i = 0; i < next_.states.size(); ++i) {
    double imbalance = 0;
    for (std::size_t type = 0; type < types; ++type) {
      imbalance += prices[type] * std::abs(static_cast<double>(next_.rooms[i * types + type]));
    }
    ranks_.emplace_back(next_.states[i].bound + balance * imbalance, next_.states[i].key);
  }
  ranked_ = ranks_;
  std::ranges::nth_element(ranked_, ranked_.begin() + static_cast<std::ptrdiff_t>(width));
  now_.clear();
  for (std::size_t i = 0; i < next_.states.size(); ++i) {
    if (ranks_[i] < ranked_[width]) {
      const auto room = next_.rooms.begin() + static_cast<std::ptrdiff_t>(i * types);
      now_.states.push_back(next_.states[i]);
      now_.rooms.insert(now_.rooms.end(), room, room + static_cast<std::ptrdiff_t>(types));
    } else {
      drop(next_.states[i]);
    }
  }
}

}  // namespace schedmate::elastic
