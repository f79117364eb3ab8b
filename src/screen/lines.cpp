// SPDX-License-Identifier: Apache-2.0
#include "screen/lines.hpp"

#include <fmt/format.h>

namespace schedmate::screen {
namespace {

constexpr std::size_t most_lines = 24;
constexpr std::size_t label_width = 10;

}  // namespace

void Lines::title(std::string_view text, Style style) {
  lines_.push_back(styled(style, style_.fit(text)));
}

void Lines::row(std::string_view label, std::string_view text, Style style) {
  if (text.empty()) return;
  add(label, style_.fit(text, label_width), style);
}

void Lines::path_row(std::string_view label, std::string_view text) {
  add(label, style_.fit(text, label_width, true), Style::plain);
}

void Lines::long_row(std::string_view label, std::string_view text, std::size_t most) {
  const std::size_t room = style_.width - label_width;
  std::string rest = printable(text);
  for (std::size_t i = 0; i < most && !rest.empty(); ++i) {
    std::size_t cut = rest.size();
    if (style_.width > 0 && rest.size() > room && i + 1 < most) {
      cut = rest.rfind(' ', room);
      if (cut == std::string::npos || cut == 0) cut = rest.size();
    }
    row(i == 0 ? label : "", std::string_view(rest).substr(0, cut));
    rest = cut < rest.size() ? rest.substr(cut + 1) : "";
  }
}

void Lines::share(std::string_view label, std::optional<double> pct, std::string_view of,
                  Style style) {
  if (pct) row(label, fmt::format("{} {}", share_bar(*pct), of), style);
}

std::string Lines::text() const {
  std::string text;
  for (std::size_t i = 0; i < lines_.size() && (i < most_lines || style_.width == 0); ++i)
    text += lines_[i] + "\n";
  return text;
}

bool Lines::has_room(std::size_t lines) const {
  return style_.width == 0 || lines_.size() + lines <= most_lines;
}

void Lines::add(std::string_view label, const std::string& text, Style style) {
  lines_.push_back(fmt::format("{:<{}}", label, label_width) + styled(style, text));
}

}  // namespace schedmate::screen
