// SPDX-License-Identifier: Apache-2.0
#include "elastic/allocation_prices.hpp"

#include <algorithm>
#include <cmath>

namespace schedmate::elastic {

void PriceModel::reset(const std::vector<std::int64_t>& free) {
  rows_ = free.size() + 1;
  columns_.assign(1, 0);
  columns_.insert(columns_.end(), free.begin(), free.end());
  inverse_.assign(rows_ * rows_, 0);
  basis_.assign(rows_, 0);
  level_.assign(rows_, 1);
  dual_.assign(rows_, 0);
  direction_.resize(rows_);
  inverse_[0] = 1;
  for (std::size_t row = 1; row < rows_; ++row) {
    basis_[row] = -static_cast<int>(row);
    level_[row] = columns_[row];
    inverse_[row * rows_] = columns_[row];
    inverse_[row * rows_ + row] = -1;
  }
}

void PriceModel::add(double worth, std::span<const double> slack) {
  columns_.push_back(worth);
  columns_.insert(columns_.end(), slack.begin(), slack.end());
  optimise();
}

double PriceModel::coefficient(int column, std::size_t row) const {
  if (column < 0) return static_cast<std::size_t>(-column) == row ? -1 : 0;
  return row == 0 ? 1 : columns_[static_cast<std::size_t>(column) * rows_ + row];
}

double PriceModel::worth(int column) const {
  return column < 0 ? 0 : columns_[static_cast<std::size_t>(column) * rows_];
}

double PriceModel::reduced(int column) const {
  double value = worth(column);
  for (std::size_t row = 0; row < rows_; ++row) value -= dual_[row] * coefficient(column, row);
  return value;
}

void PriceModel::optimise() {
  const int most = 20 * static_cast<int>(rows_);  // against cycles; any prices give a bound
  const auto columns = static_cast<int>(columns_.size() / rows_);
  for (int i = 0; i < most; ++i) {
    int entering = 0;
    double best = 1e-9 * std::max(1.0, std::abs(dual_[0]));
    for (int column = 1 - static_cast<int>(rows_); column < columns; ++column) {
      const double gain = reduced(column);
      if (gain <= best) continue;
      best = gain;
      entering = column;
    }
    if (best <= 1e-9 * std::max(1.0, std::abs(dual_[0])) || !pivot(entering)) return;
  }
}

bool PriceModel::pivot(int entering) {
  std::size_t leaving = rows_;
  double least = 0;
  for (std::size_t row = 0; row < rows_; ++row) {
    double sum = 0;
    for (std::size_t i = 0; i < rows_; ++i) {
      sum += inverse_[row * rows_ + i] * coefficient(entering, i);
    }
    direction_[row] = sum;
    if (sum <= 1e-9) continue;
    const double ratio = std::max(0.0, level_[row]) / sum;
    if (leaving < rows_ && ratio >= least) continue;
    least = ratio;
    leaving = row;
  }
  if (leaving == rows_) return false;
  basis_[leaving] = entering;
  const double scale = 1 / direction_[leaving];
  for (std::size_t i = 0; i < rows_; ++i) inverse_[leaving * rows_ + i] *= scale;
  level_[leaving] = least;
  for (std::size_t row = 0; row < rows_; ++row) {
    if (row == leaving) continue;
    level_[row] -= least * direction_[row];
    for (std::size_t i = 0; i < rows_; ++i) {
      inverse_[row * rows_ + i] -= direction_[row] * inverse_[leaving * rows_ + i];
    }
  }
  set_dual();
  return true;
}

void PriceModel::set_dual() {
  std::ranges::fill(dual_, 0);
  for (std::size_t row = 0; row < rows_; ++row) {
    const double value = worth(basis_[row]);
    for (std::size_t i = 0; i < rows_; ++i) dual_[i] += value * inverse_[row * rows_ + i];
  }
}

double PriceSearch::choose(const AllocationTable& table) {
  double net = 0;
  for (std::int32_t job = 0; job < table.jobs(); ++job) {
    double best = 0;
    std::int32_t chosen = no_option;
    for (std::int32_t i = table.begin(job); i < table.end(job); ++i) {
      const std::int32_t shape = table.shape[static_cast<std::size_t>(i)];
      const double worth = table.worth[static_cast<std::size_t>(i)];
      const double value = worth - cost_[static_cast<std::size_t>(shape)];
      if (value <= best) continue;
      best = value;
      chosen = shape;
    }
    if (chosen == no_option) continue;
    net += best;
    ++taken_[static_cast<std::size_t>(chosen)];
  }
  return net;
}

double PriceSearch::evaluate(const AllocationTable& table, std::span<const double> prices) {
  taken_.assign(table.shapes.size(), 0);
  cost_.clear();
  for (const AllocationShape& shape : table.shapes) {
    cost_.push_back(prices[shape.type] * static_cast<double>(shape.gpus));
  }
  worth_ = choose(table);
  double bound = worth_;
  slack_.assign(table.free.begin(), table.free.end());
  for (std::size_t i = 0; i < table.shapes.size(); ++i) {
    slack_[table.shapes[i].type] -= static_cast<double>(taken_[i]) * table.shapes[i].gpus;
  }
  for (std::size_t type = 0; type < prices.size(); ++type) {
    const auto free = static_cast<double>(table.free[type]);
    bound += prices[type] * free;
    worth_ += prices[type] * (free - slack_[type]);
  }
  return bound;
}

double PriceSearch::minimise(const AllocationTable& table, std::vector<double>& prices) {
  constexpr int most = 200;
  model_.reset(table.free);
  trial_ = prices;
  double best = evaluate(table, prices);
  model_.add(worth_, slack_);
  double pull = 0.5;  // the share of the way from the model's prices back to the best known ones
  for (int i = 0; i < most; ++i) {
    const double tolerance = std::max(table.exact ? 1e-3 : 0, 1e-9 * best);
    if (best - model_.value() <= tolerance) break;
    for (std::size_t type = 0; type < prices.size(); ++type) {
      trial_[type] = std::lerp(std::max(0.0, model_.price(type)), prices[type], pull);
    }
    const double bound = evaluate(table, trial_);
    model_.add(worth_, slack_);
    if (bound < best) {
      best = bound;
      prices = trial_;
    } else {
      pull *= 0.7;
    }
  }
  return best;
}

}  // namespace schedmate::elastic
