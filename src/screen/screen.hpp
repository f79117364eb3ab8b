// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How wide the screen is, shares as bars, and which colours figures and states have.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/words.hpp"
#include "settings/environment.hpp"

namespace schedmate::screen {

struct ScreenStyle {
  std::size_t width = 80;                                ///< 0: no screen
  std::function<std::string(std::int64_t unix_s)> date;  ///< for people

  /// What of a text fits beside so many columns, from the left or (of a path) the right.
  [[nodiscard]] std::string fit(std::string_view text, std::size_t beside = 0,
                                bool keep_end = false) const;
  /// What of a text fits into a cell, which has no limit where there is no screen.
  [[nodiscard]] std::string cell(std::string_view text, std::size_t most) const;
};
/// As wide as environment says, at least 40 columns.
[[nodiscard]] ScreenStyle screen_style(const settings::Environment& environment);

/// "do_not_restart" for people: "do not restart".
[[nodiscard]] std::string spaced(std::string_view name);

/// "[||||      ] 41 %", of 20 marks; more than 100 % fills it.
[[nodiscard]] std::string share_bar(double share_pct);
/// "41 %", "---" when nobody knows.
[[nodiscard]] std::string share_words(std::optional<double> share_pct);

/// Where a high share is good (CPU, GPU): red below 20, green above 80. Where the middle is (time,
/// memory): red below 20 and above 90, green from 60 on.
[[nodiscard]] Style style_of_high(std::optional<double> share_pct);
[[nodiscard]] Style style_of_middle(std::optional<double> share_pct);
/// Of a state: green completed, yellow cancelled, red what failed.
[[nodiscard]] Style style_of_state(std::string_view state);

}  // namespace schedmate::screen
