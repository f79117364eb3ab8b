// SPDX-License-Identifier: Apache-2.0
#include "apps/screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "base/words.hpp"

namespace schedmate {
namespace {

std::size_t characters_in(std::string_view text) {
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  return static_cast<std::size_t>(std::ranges::count_if(text, begins));
}

/// Where so many characters of a printable text end.
std::size_t bytes_of_characters(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  for (; count > 0 && at < text.size(); --count)
    at += std::max<std::size_t>(1, utf8_length(text, at));
  return std::min(at, text.size());
}

std::size_t width_of_cells(const TableColumn& column) {
  std::size_t widest = characters_in(column.name);
  for (const Cell& cell : column.cells) widest = std::max(widest, characters_in(cell.text));
  return widest;
}

std::string padded(std::string text, std::size_t width, bool to_the_right) {
  const std::size_t blanks = width - std::min(width, characters_in(text));
  return to_the_right ? std::string(blanks, ' ') + text : text + std::string(blanks, ' ');
}

/// Leaves out columns until the rest fits, except for those of rank 0.
std::vector<std::size_t> fit(std::vector<TableColumn>& columns, std::size_t width) {
  constexpr std::size_t least_for_last = 12;
  for (;;) {
    std::vector<std::size_t> widths;
    std::size_t sum = 0;
    for (const TableColumn& column : columns) {
      const std::size_t own = width_of_cells(column);
      const bool last = &column == &columns.back();
      widths.push_back(own);
      sum += (last ? std::min(own, least_for_last) : own + 2);
    }
    const auto worst = std::ranges::max_element(columns, {}, &TableColumn::rank);
    if (sum <= width || worst == columns.end() || worst->rank == 0) {
      const std::size_t before = sum - std::min(widths.back(), least_for_last);
      widths.back() = std::min(widths.back(), width - std::min(width, before));
      return widths;
    }
    columns.erase(worst);
  }
}

}  // namespace

std::size_t screen_width(const settings::Environment& environment) {
  constexpr std::size_t usual = 80;
  const auto given = parse_number<std::size_t>(environment.variable("COLUMNS"));
  const std::size_t width = environment.columns > 0 ? environment.columns : given.value_or(usual);
  return std::clamp<std::size_t>(width, 40, 400);
}

std::string shortened(std::string_view text, std::size_t width, bool keep_end) {
  constexpr std::string_view dots = "...";
  std::string safe = printable(text);
  const std::size_t count = characters_in(safe);
  if (count <= width) return safe;
  if (width <= dots.size()) return std::string(dots.substr(0, width));
  const std::size_t kept = width - dots.size();
  if (keep_end) return std::string(dots) + safe.substr(bytes_of_characters(safe, count - kept));
  return safe.substr(0, bytes_of_characters(safe, kept)) + std::string(dots);
}

std::string share_bar(double share_pct) {
  constexpr std::size_t marks = 20;
  const double part = std::clamp(share_pct, 0.0, 100.0) / 100 * static_cast<double>(marks);
  const auto filled = static_cast<std::size_t>(std::lround(part));
  return fmt::format("[{}{}] {:.0f} %", std::string(filled, '|'), std::string(marks - filled, ' '),
                     share_pct);
}

std::string share_words(std::optional<double> share_pct) {
  return share_pct ? fmt::format("{:.0f} %", *share_pct) : "---";
}

Colour colour_of_high(std::optional<double> share_pct) {
  if (!share_pct) return Colour::none;
  return *share_pct < 20 ? Colour::red : *share_pct > 80 ? Colour::green : Colour::none;
}

Colour colour_of_middle(std::optional<double> share_pct) {
  if (!share_pct) return Colour::none;
  if (*share_pct < 20 || *share_pct > 90) return Colour::red;
  return *share_pct >= 60 ? Colour::green : Colour::none;
}

Colour colour_of_state(std::string_view state) {
  if (state == "completed") return Colour::green;
  if (state == "running" || state == "pending" || state.empty()) return Colour::none;
  return state == "cancelled" || state == "preempted" ? Colour::yellow : Colour::red;
}

std::string coloured(std::string_view text, Colour colour) {
  switch (colour) {
    case Colour::bold:
      return styled(Style::bold, text);
    case Colour::red:
      return styled(Style::red, text);
    case Colour::green:
      return styled(Style::green, text);
    case Colour::yellow:
      return styled(Style::yellow, text);
    case Colour::none:
      break;
  }
  return std::string(text);
}

std::string table_text(std::vector<TableColumn> columns, std::size_t width) {
  if (columns.empty()) return "";
  const std::vector<std::size_t> widths = fit(columns, width);
  std::string text;
  const auto add = [&](std::size_t i, const Cell& cell) {
    const bool last = i + 1 == columns.size();
    const std::string shown = shortened(cell.text, widths[i]);
    const bool pad = !last || columns[i].to_the_right;
    text += coloured(pad ? padded(shown, widths[i], columns[i].to_the_right) : shown, cell.colour);
    text += last ? "\n" : "  ";
  };
  for (std::size_t i = 0; i < columns.size(); ++i) add(i, {columns[i].name, Colour::bold});
  for (std::size_t row = 0; row < columns.front().cells.size(); ++row)
    for (std::size_t i = 0; i < columns.size(); ++i) add(i, columns[i].cells[row]);
  return text;
}

}  // namespace schedmate
