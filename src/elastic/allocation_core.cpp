// SPDX-License-Identifier: Apache-2.0
#include "elastic/allocation_core.hpp"

#include <algorithm>
#include <limits>

#include "base/random.hpp"

namespace schedmate::elastic {
namespace {

constexpr double impossible_loss = std::numeric_limits<double>::infinity();

}  // namespace

std::uint64_t key_of_gpus(const AllocationShape& shape) {
  return (mix(shape.type) | 1U) * static_cast<std::uint64_t>(shape.gpus);
}

void CapacityBounds::reset(std::span<const double> prices, std::size_t depths) {
  types_ = prices.size();
  rows_.resize((depths + 1) * types_);
  for (std::size_t type = 0; type < types_; ++type) {
    Row& row = rows_[depths * types_ + type];
    for (std::size_t gpus = 0; gpus <= most; ++gpus) {
      row.ease[gpus] = gpus == 0 ? 0 : impossible_loss;
      row.use[gpus] = prices[type] * static_cast<double>(gpus);
    }
    row.ease_rate = impossible_loss;
    row.use_rate = prices[type];
  }
}

void CapacityBounds::add(std::size_t depth, std::span<const CoreEntry> entries) {
  const Row* later = rows_.data() + (depth + 1) * types_;
  Row* rows = rows_.data() + depth * types_;
  std::copy_n(later, types_, rows);
  for (const CoreEntry& entry : entries) {
    const auto freed = entry.freed.gpus;
    const auto taken = entry.taken.gpus;
    const bool within = freed > 0 && taken > 0 && entry.freed.type == entry.taken.type;
    const std::int32_t eased = within ? freed - taken : freed;
    const std::int32_t used = within ? taken - freed : taken;
    const std::size_t from = entry.freed.type;
    const std::size_t to = entry.taken.type;
    if (eased > 0) ease_by(rows[from], later[from], static_cast<std::size_t>(eased), entry.loss);
    if (used > 0) use_by(rows[to], later[to], static_cast<std::size_t>(used), entry.loss);
  }
}

void CapacityBounds::ease_by(Row& row, const Row& later, std::size_t gpus, double loss) {
  row.ease_rate = std::min(row.ease_rate, loss / static_cast<double>(gpus));
  const std::size_t all = std::min(gpus, most);
  for (std::size_t i = 1; i <= all; ++i) row.ease[i] = std::min(row.ease[i], loss);
  for (std::size_t i = all + 1; i <= most; ++i) {
    row.ease[i] = std::min(row.ease[i], loss + later.ease[i - all]);
  }
}

void CapacityBounds::use_by(Row& row, const Row& later, std::size_t gpus, double loss) {
  row.use_rate = std::min(row.use_rate, loss / static_cast<double>(gpus));
  const std::size_t all = std::min(gpus, most);
  for (std::size_t i = 1; i <= all; ++i) row.use[i] = std::min(row.use[i], loss);
  for (std::size_t i = all + 1; i <= most; ++i) {
    row.use[i] = std::min(row.use[i], loss + later.use[i - all]);
  }
}

double CapacityBounds::least(std::size_t depth, std::span<const std::int64_t> room) const {
  const Row* rows = rows_.data() + depth * types_;
  double easing = 0;
  double using_up = 0;
  for (std::size_t type = 0; type < types_; ++type) {
    const std::int64_t gpus = room[type];
    if (gpus == 0) continue;
    const auto count = static_cast<std::size_t>(gpus < 0 ? -gpus : gpus);
    const std::size_t known = std::min(count, most);
    const auto amount = static_cast<double>(count);
    if (gpus < 0) {
      easing += std::max(rows[type].ease[known], rows[type].ease_rate * amount);
    } else {
      using_up += std::max(rows[type].use[known], rows[type].use_rate * amount);
    }
  }
  // An option eases one type and uses one type at most, so losses add up over the types to ease,
  // and over those to use; one and the same loss may count on both sides.
  return std::max({easing, using_up, (easing + using_up) / 2});
}

void AllocationCore::build(const AllocationTable& table, const std::vector<double>& prices,
                           const TableChoice& start, double budget) {
  jobs_.clear();
  entries_.clear();
  first_.assign(1, 0);
  cost_.clear();
  for (const AllocationShape& shape : table.shapes) {
    cost_.push_back(prices[shape.type] * static_cast<double>(shape.gpus));
  }
  for (std::int32_t job = 0; job < table.jobs(); ++job) {
    const std::int32_t started = start.option[static_cast<std::size_t>(job)];
    double best = 0;
    double other = started == no_option ? -impossible_loss : 0;
    for (std::int32_t i = table.begin(job); i < table.end(job); ++i) {
      const auto option = static_cast<std::size_t>(i);
      const double net = table.worth[option] - cost_[static_cast<std::size_t>(table.shape[option])];
      best = std::max(best, net);
      if (i != started) other = std::max(other, net);
    }
    if (best - other <= budget) jobs_.push_back({best - other, best, job});
  }
  std::ranges::sort(jobs_, [](const UndecidedJob& a, const UndecidedJob& b) {
    return a.doubt != b.doubt ? a.doubt < b.doubt : a.job < b.job;
  });
  for (const UndecidedJob& undecided : jobs_) {
    add_entries(table, undecided, start.option[static_cast<std::size_t>(undecided.job)], budget);
  }
  losses_.reset(prices, jobs_.size());
  for (std::size_t depth = jobs_.size(); depth-- > 0;) losses_.add(depth, entries(depth));
}

void AllocationCore::add_entries(const AllocationTable& table, const UndecidedJob& undecided,
                                 std::int32_t started, double budget) {
  const AllocationShape freed = started == no_option ? AllocationShape{} : table.shape_of(started);
  const auto add = [&](std::int32_t option, double loss) {
    if (loss > budget) return;
    const Score score = table.score_of(option) - table.score_of(started);
    const AllocationShape taken = option == no_option ? AllocationShape{} : table.shape_of(option);
    const bool stays = option == started;
    entries_.push_back({loss, score, key_of_gpus(freed) - key_of_gpus(taken), option,
                        stays ? AllocationShape{} : freed, stays ? AllocationShape{} : taken});
  };
  add(no_option, undecided.best);
  for (std::int32_t i = table.begin(undecided.job); i < table.end(undecided.job); ++i) {
    const auto option = static_cast<std::size_t>(i);
    const double cost = cost_[static_cast<std::size_t>(table.shape[option])];
    add(i, undecided.best - (table.worth[option] - cost));
  }
  const auto from = entries_.begin() + static_cast<std::ptrdiff_t>(first_.back());
  std::sort(from, entries_.end(), [](const CoreEntry& a, const CoreEntry& b) {
    return a.loss != b.loss ? a.loss < b.loss : a.option < b.option;
  });
  first_.push_back(entries_.size());
}

}  // namespace schedmate::elastic
