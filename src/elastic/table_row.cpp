// SPDX-License-Identifier: Apache-2.0
#include "elastic/table_row.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/input.hpp"
#include "base/text.hpp"

namespace schedmate::elastic {

TableRow::TableRow(const trace::CsvRows& rows, std::string path)
    : rows_(rows), path_(std::move(path)) {}

double TableRow::number(std::string_view column, Bounds bounds) {
  const auto at = rows_.need(column);
  if (!at) {
    if (!error_) error_ = at.error();
    return bounds.low;
  }
  const auto value = parse_number<double>(rows_.field(*at));
  if (value && *value >= bounds.low && *value <= bounds.high) return *value;
  refuse(fmt::format("{} must be a number from {} to {}", column, bounds.low, bounds.high));
  return bounds.low;
}

std::int32_t TableRow::whole(std::string_view column, Bounds bounds) {
  const double value = number(column, bounds);
  if (value == std::floor(value)) return static_cast<std::int32_t>(value);
  refuse(fmt::format("{} must be a whole number from {} to {}", column, bounds.low, bounds.high));
  return static_cast<std::int32_t>(bounds.low);
}

std::string_view TableRow::text(std::string_view column) {
  const auto at = rows_.need(column);
  if (at) return rows_.field(*at);
  if (!error_) error_ = at.error();
  return {};
}

std::string_view TableRow::maybe_text(std::string_view column) const {
  return rows_.field(rows_.find(column));
}

void TableRow::refuse(std::string_view why) {
  if (error_) return;
  error_ = Error{ErrorCode::invalid, fmt::format("{}:{}: {}", path_, rows_.line(), why)};
}

Result<void> parse_table(std::string_view csv, const std::string& file,
                         const std::function<void(TableRow&)>& read) {
  auto rows = trace::CsvRows::open(csv, file);
  if (!rows) return tl::unexpected(rows.error());
  while (rows->next()) {
    TableRow row(*rows, file);
    if (rows->fault().empty())
      read(row);
    else
      row.refuse(rows->fault());
    if (row.error()) return tl::unexpected(*row.error());
  }
  return {};
}

Result<void> read_table(const std::string& path, const std::function<void(TableRow&)>& read) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  return parse_table(*text, path, read);
}

}  // namespace schedmate::elastic
