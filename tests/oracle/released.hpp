// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reads the released Lucid simulator's input and its results, where the machine has them.

#include <map>
#include <string>
#include <vector>

#include "tick_model.hpp"

namespace oracle {

/// A CSV file, plain or gzipped, by column.
class Table {
 public:
  explicit Table(const std::string& path);
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] const std::string& text(const std::string& column, std::size_t row) const {
    return columns_.at(column).at(row);
  }
  [[nodiscard]] double number(const std::string& column, std::size_t row) const {
    return std::stod(text(column, row));
  }
  [[nodiscard]] Tick tick(const std::string& column, std::size_t row) const {
    return static_cast<Tick>(number(column, row));
  }
  [[nodiscard]] bool has(const std::string& column) const { return columns_.contains(column); }

 private:
  std::map<std::string, std::vector<std::string>> columns_;
  std::size_t rows_ = 0;
};

/// The folder's jobs, with this column as estimates.
[[nodiscard]] TickInput read_released_input(const std::string& folder, const std::string& estimate);

/// What the released simulator says of each job; what a file does not name keeps its default.
[[nodiscard]] std::vector<TickOutcome> read_released_outcomes(const std::string& path);
[[nodiscard]] std::vector<std::pair<Tick, int>> read_released_scaling(const std::string& path);

}  // namespace oracle
