// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <schedmate/time.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/words.hpp"
#include "screen/screen.hpp"

namespace schedmate::screen {

/// A screen as it grows: labelled lines that fit, at most 24 of them where there is a screen.
class Lines {
 public:
  explicit Lines(const ScreenStyle& style) : style_(style) {}

  void title(std::string_view text, Style style);
  /// Nothing where there is no text.
  void row(std::string_view label, std::string_view text, Style style = Style::plain);
  void path_row(std::string_view label, std::string_view text);
  /// Over at most `most` lines, parted at blanks.
  void long_row(std::string_view label, std::string_view text, std::size_t most);
  void share(std::string_view label, std::optional<double> pct, std::string_view of, Style style);
  [[nodiscard]] std::string date(SimTime time) const { return style_.date(seconds_of(time)); }
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool has_room(std::size_t lines = 1) const;

 private:
  void add(std::string_view label, const std::string& text, Style style);

  const ScreenStyle& style_;
  std::vector<std::string> lines_;
};

}  // namespace schedmate::screen
