// SPDX-License-Identifier: Apache-2.0
#include "base/table.hpp"

#include <algorithm>
#include <numeric>

#include "base/fold.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"

namespace schedmate {
namespace {

using Rows = std::span<const std::vector<Cell>>;

constexpr std::size_t gap = 2;

/// Where so many characters of a printable text end.
std::size_t bytes_of_characters(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  for (; count > 0 && at < text.size(); --count)
    at += std::max<std::size_t>(1, utf8_length(text, at));
  return std::min(at, text.size());
}

/// Adds a cell to a line; the blanks up to the next one belong to it.
void append(std::string& line, const std::string& shown, std::size_t width, bool to_the_right) {
  const std::size_t blanks = width - std::min(width, width_of_cell(shown));
  if (to_the_right) line.append(blanks, ' ');
  line += shown;
  line.append((to_the_right ? 0 : blanks) + gap, ' ');
}

std::string without_blanks_at_end(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

/// The columns that a table shows, and how wide they are.
class Layout {
 public:
  Layout(std::span<const TableColumn> columns, Rows rows)
      : kept(columns.size()), columns_(columns) {
    std::iota(kept.begin(), kept.end(), std::size_t{0});
    for (const std::size_t i : kept) {
      std::size_t widest = width_of_cell(columns[i].name);
      for (const auto& row : rows) widest = std::max(widest, width_of_cell(row[i].text));
      widths.push_back(widest);
    }
  }

  void fit(Rows rows, std::size_t width) {
    const auto rank = [&](std::size_t i) { return columns_[i].rank; };
    if (needed() > width && !rows.empty())
      std::erase_if(kept, [&](std::size_t i) { return rank(i) > 0 && !is_known(rows, i); });
    while (needed() > width) {
      const auto worst = std::ranges::max_element(kept, {}, rank);
      if (rank(*worst) == 0) break;
      kept.erase(worst);
    }
    constexpr std::size_t least = 12;
    std::size_t& last = widths[kept.back()];
    last = std::min(last, std::max(width - std::min(width, before_last()), least));
  }

  [[nodiscard]] std::size_t before_last() const {
    std::size_t sum = 0;
    for (const std::size_t i : kept) sum += widths[i] + gap;
    return sum - widths[kept.back()] - gap;
  }

  std::vector<std::size_t> kept;    ///< indices
  std::vector<std::size_t> widths;  ///< of all columns

 private:
  [[nodiscard]] std::size_t needed() const {
    return before_last() + std::min(widths[kept.back()], columns_[kept.back()].least);
  }
  static bool is_known(Rows rows, std::size_t i) {
    return std::ranges::any_of(
        rows, [&](const auto& row) { return row[i].text != unknown_cell && !row[i].text.empty(); });
  }

  std::span<const TableColumn> columns_;
};

/// Adds a cell as wide as its column. A folded one goes on below itself.
void append_fitted(std::string& text, const Cell& cell, const TableColumn& column,
                   std::size_t width) {
  if (column.too_long != TooLong::folded)
    return append(
        text,
        styled(cell.style, shortened(cell.text, width, column.too_long == TooLong::cut_in_front)),
        width, column.to_the_right);
  const std::size_t indent = width_of_cell(text);
  const std::string lines = folded(cell.text, width);
  std::string below;
  for (const std::string_view line : split(lines, '\n')) {
    const std::size_t first =
        below.empty() ? 0 : std::min(line.find_first_not_of(' '), line.size());
    text += below + styled(cell.style, line.substr(first));
    below = "\n" + std::string(indent, ' ');
  }
}

}  // namespace

std::string shortened(std::string_view text, std::size_t width, bool keep_end) {
  constexpr std::string_view dots = "...";
  std::string safe = printable(text);
  const std::size_t count = width_of_cell(safe);
  if (count <= width) return safe;
  if (width <= dots.size()) return std::string(dots.substr(0, width));
  const std::size_t kept = width - dots.size();
  if (keep_end) return std::string(dots) + safe.substr(bytes_of_characters(safe, count - kept));
  return safe.substr(0, bytes_of_characters(safe, kept)) + std::string(dots);
}

std::string table_text(std::span<const TableColumn> columns, Rows rows, std::size_t width) {
  if (columns.empty()) return "";
  Layout layout(columns, rows);
  if (width > 0) layout.fit(rows, width);
  std::string line;
  for (const std::size_t i : layout.kept)
    append(line, columns[i].name, layout.widths[i], columns[i].to_the_right);
  std::string text = styled(Style::bold, without_blanks_at_end(std::move(line))) + "\n";
  for (const auto& row : rows) {
    line.clear();
    for (const std::size_t i : layout.kept)
      append_fitted(line, row[i], columns[i], layout.widths[i]);
    text += without_blanks_at_end(std::move(line)) + "\n";
  }
  return text;
}

std::string aligned(std::span<const std::vector<std::string>> rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], width_of_cell(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) append(line, row[i], widths[i], false);
    text += without_blanks_at_end(std::move(line)) + "\n";
  }
  return text;
}

}  // namespace schedmate
