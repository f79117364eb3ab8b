// SPDX-License-Identifier: Apache-2.0
#include "log/progress/columns.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace schedmate::progress {
namespace {

constexpr std::size_t least_columns = 3;
constexpr std::size_t most_columns = 40;
constexpr std::size_t most_name = 40;
constexpr std::size_t most_row = 1000;

/// The cells of a line; a blank stands for any number of them (of two or more, where `wide`).
std::vector<std::string> cells_of(std::string_view body, char separator, bool wide) {
  std::vector<std::string> cells;
  while (true) {
    body = trim(body);
    if (body.empty() || cells.size() > most_columns) return cells;
    auto end = separator == ' ' ? body.find_first_of(wide ? "\t" : " \t") : body.find(separator);
    if (separator == ' ' && wide) end = std::min(end, body.find("  "));
    const auto cell = trim(body.substr(0, end));
    if (!cell.empty() || separator == ',') cells.emplace_back(cell);
    if (end == std::string_view::npos) return cells;
    body.remove_prefix(end + 1);
  }
}

/// "Train Iter (time)" without what stands in parentheses.
std::string name_of(std::string_view cell) {
  return std::string(trim(cell.substr(0, cell.find('('))));
}

bool is_number(std::string_view cell) {
  return !cell.empty() && (std::string_view("+-.").contains(cell[0]) ||
                           (cell[0] >= '0' && cell[0] <= '9') || cell == "nan");
}

}  // namespace

void Columns::see_text(std::string_view body) {
  const bool rule = body.find_first_not_of("-=+| \t") == std::string_view::npos;
  if (rule) return;
  names_.clear();
  if (body.size() > most_row) return;
  for (const char separator : {'|', ',', ' '}) {
    auto cells = cells_of(body, separator, separator == ' ');
    if (separator == ' ' && cells.size() < least_columns) cells = cells_of(body, ' ', false);
    const bool fits = cells.size() >= least_columns && cells.size() <= most_columns &&
                      std::ranges::all_of(cells, [](const auto& cell) {
                        return !cell.empty() && cell.size() <= most_name && !cell.contains(':') &&
                               !cell.ends_with('.');
                      });
    if (!fits) continue;
    separator_ = separator;
    for (const auto& cell : cells) names_.push_back(name_of(cell));
    return;
  }
}

bool Columns::begin_with_time() const {
  return !names_.empty() && (names_[0].ends_with("time") || names_[0].ends_with("stamp") ||
                             names_[0] == "date" || names_[0] == "Time");
}

std::optional<std::string> Columns::row(std::string_view body) const {
  if (names_.empty() || body.size() > most_row || body.contains('[')) return std::nullopt;
  const auto cells = cells_of(body, separator_, false);
  if (cells.size() != names_.size()) return std::nullopt;
  const auto numbers = static_cast<std::size_t>(std::ranges::count_if(cells, is_number));
  if (!is_number(cells[0]) || numbers * 2 < cells.size()) return std::nullopt;
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (is_number(cells[i])) text += names_[i] + ": " + cells[i] + ", ";
  return text;
}

}  // namespace schedmate::progress
