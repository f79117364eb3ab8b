// SPDX-License-Identifier: Apache-2.0
#include "screen/screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/table.hpp"

namespace schedmate::screen {

std::string ScreenStyle::fit(std::string_view text, std::size_t beside, bool keep_end) const {
  return width == 0 ? printable(text) : shortened(text, width - std::min(width, beside), keep_end);
}

std::string ScreenStyle::cell(std::string_view text, std::size_t most) const {
  return width == 0 ? printable(text) : shortened(text, most);
}

ScreenStyle screen_style(const settings::Environment& environment) {
  constexpr std::size_t least = 40;
  const std::size_t columns = environment.columns;
  return {columns == 0 ? 0 : std::max(columns, least), environment.date};
}

std::string spaced(std::string_view name) {
  std::string words(name);
  std::ranges::replace(words, '_', ' ');
  return words;
}

std::string share_bar(double share_pct) {
  constexpr std::size_t marks = 20;
  const double part = std::clamp(share_pct, 0.0, 100.0) / 100 * static_cast<double>(marks);
  const auto filled = static_cast<std::size_t>(std::lround(part));
  return fmt::format("[{}{}] {:.0f} %", std::string(filled, '|'), std::string(marks - filled, ' '),
                     share_pct);
}

std::string share_words(std::optional<double> share_pct) {
  return share_pct ? fmt::format("{:.0f} %", *share_pct) : unknown_cell;
}

Style style_of_high(std::optional<double> share_pct) {
  if (!share_pct) return Style::plain;
  return *share_pct < 20 ? Style::red : *share_pct > 80 ? Style::green : Style::plain;
}

Style style_of_middle(std::optional<double> share_pct) {
  if (!share_pct) return Style::plain;
  if (*share_pct < 20 || *share_pct > 90) return Style::red;
  return *share_pct >= 60 ? Style::green : Style::plain;
}

Style style_of_state(std::string_view state) {
  if (state == "completed") return Style::green;
  if (state == "running" || state == "pending" || state.empty()) return Style::plain;
  return state == "cancelled" || state == "preempted" ? Style::yellow : Style::red;
}

}  // namespace schedmate::screen
