// SPDX-License-Identifier: Apache-2.0
#include "elastic/allocation_repair.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace schedmate::elastic {
namespace {

double move_price(const AllocationTable& table, const std::vector<double>& prices,
                  std::int32_t option) {
  if (option == no_option) return 0;
  const AllocationShape shape = table.shape_of(option);
  return prices[shape.type] * static_cast<double>(shape.gpus);
}

double move_worth(const AllocationTable& table, std::int32_t option) {
  return option == no_option ? 0 : table.worth[static_cast<std::size_t>(option)];
}

/// GPUs of `type` that the option takes.
std::int64_t gpus_of_type(const AllocationTable& table, std::int32_t option, std::size_t type) {
  if (option == no_option) return 0;
  const AllocationShape shape = table.shape_of(option);
  return shape.type == type ? shape.gpus : 0;
}

/// Whether changing to `to` takes no more of its type than there is.
bool has_room(const AllocationTable& table, const TableChoice& choice, std::int32_t from,
              std::int32_t to) {
  if (to == no_option) return true;
  const AllocationShape shape = table.shape_of(to);
  return shape.gpus - gpus_of_type(table, from, shape.type) <= choice.room[shape.type];
}

/// More merit comes first; of equal merit the later job.
bool later_move(const AllocationMove& a, const AllocationMove& b) {
  return a.merit != b.merit ? a.merit < b.merit : a.job < b.job;
}

/// The move by which a job eases the type it takes too much of at the least loss for each GPU.
std::optional<AllocationMove> easing_move(const AllocationTable& table,
                                          const std::vector<double>& prices,
                                          const TableChoice& choice, std::int32_t job) {
  const std::int32_t from = choice.option[static_cast<std::size_t>(job)];
  if (from == no_option) return std::nullopt;
  const AllocationShape shape = table.shape_of(from);
  const std::int64_t missing = -choice.room[shape.type];
  if (missing <= 0) return std::nullopt;
  const double net = move_worth(table, from) - move_price(table, prices, from);
  std::optional<AllocationMove> best;
  const auto consider = [&](std::int32_t to) {
    const std::int64_t eased = shape.gpus - gpus_of_type(table, to, shape.type);
    const bool elsewhere = to != no_option && table.shape_of(to).type != shape.type;
    if (eased <= 0 || (elsewhere && !has_room(table, choice, from, to))) return;
    const double loss = net - move_worth(table, to) + move_price(table, prices, to);
    const double merit = -loss / static_cast<double>(std::min(eased, missing));
    if (!best || merit > best->merit) best = {merit, job, to};
  };
  consider(no_option);
  for (std::int32_t to = table.begin(job); to < table.end(job); ++to) consider(to);
  return best;
}

/// The move that gains most for what it takes at the prices.
std::optional<AllocationMove> filling_move(const AllocationTable& table,
                                           const std::vector<double>& prices,
                                           const TableChoice& choice, std::int32_t job) {
  const std::int32_t from = choice.option[static_cast<std::size_t>(job)];
  const Score now = table.score_of(from);
  std::optional<AllocationMove> best;
  for (std::int32_t to = table.begin(job); to < table.end(job); ++to) {
    if (table.score_of(to) <= now || !has_room(table, choice, from, to)) continue;
    const double gain = move_worth(table, to) - move_worth(table, from);
    const double cost = move_price(table, prices, to) - move_price(table, prices, from);
    constexpr double free_of_charge = 1e-9;
    const double merit = gain / std::max(cost, free_of_charge);
    if (!best || merit > best->merit) best = {merit, job, to};
  }
  return best;
}

}  // namespace

void TableChoice::clear(const AllocationTable& table) {
  option.assign(table.origin.size(), no_option);
  room = table.free;
  score = 0;
}

void TableChoice::take(const AllocationTable& table, std::int32_t job, std::int32_t chosen) {
  std::int32_t& held = option[static_cast<std::size_t>(job)];
  if (held != no_option) room[table.shape_of(held).type] += table.shape_of(held).gpus;
  if (chosen != no_option) room[table.shape_of(chosen).type] -= table.shape_of(chosen).gpus;
  score += table.score_of(chosen) - table.score_of(held);
  held = chosen;
}

void choose_at(const AllocationTable& table, const std::vector<double>& prices,
               TableChoice& choice) {
  choice.clear(table);
  for (std::int32_t job = 0; job < table.jobs(); ++job) {
    double best = 0;
    std::int32_t chosen = no_option;
    for (std::int32_t option = table.begin(job); option < table.end(job); ++option) {
      const double net = move_worth(table, option) - move_price(table, prices, option);
      if (net <= best) continue;
      best = net;
      chosen = option;
    }
    if (chosen != no_option) choice.take(table, job, chosen);
  }
}

void AllocationRepair::repair(const AllocationTable& table, const std::vector<double>& prices,
                              TableChoice& choice) {
  make_moves(table, choice, [&](std::int32_t job) {  //
    return easing_move(table, prices, choice, job);
  });
  fill(table, prices, choice);
}

void AllocationRepair::fill(const AllocationTable& table, const std::vector<double>& prices,
                            TableChoice& choice) {
  const auto find = [&](std::int32_t job) { return filling_move(table, prices, choice, job); };
  // A job that changes its type leaves GPUs to others, so until nothing moves any more.
  while (make_moves(table, choice, find)) continue;
}

template <class FindMove>
bool AllocationRepair::make_moves(const AllocationTable& table, TableChoice& choice,
                                  FindMove find) {
  heap_.clear();
  for (std::int32_t job = 0; job < table.jobs(); ++job) {
    if (const auto move = find(job)) heap_.push_back(*move);
  }
  std::ranges::make_heap(heap_, later_move);
  bool moved = false;
  while (!heap_.empty()) {
    std::ranges::pop_heap(heap_, later_move);
    const std::int32_t job = heap_.back().job;
    heap_.pop_back();
    auto move = find(job);
    if (!move) continue;
    // Moves mostly lose merit as others are made: the job has its turn when it comes up again.
    if (heap_.empty() || move->merit >= heap_.front().merit) {
      choice.take(table, job, move->to);
      moved = true;
      move = find(job);
    }
    if (!move) continue;
    heap_.push_back(*move);
    std::ranges::push_heap(heap_, later_move);
  }
  return moved;
}

}  // namespace schedmate::elastic
