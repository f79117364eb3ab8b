// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How wide the screen is, shares as bars, and which colours figures and states have.

#include <optional>
#include <string>
#include <string_view>

#include "base/words.hpp"
#include "settings/environment.hpp"

namespace schedmate {

/// The terminal's, else COLUMNS, else 80; 40 to 400.
[[nodiscard]] std::size_t screen_width(const settings::Environment& environment);

/// "do_not_restart" for people: "do not restart".
[[nodiscard]] std::string spaced(std::string_view name);

/// Memory: "40 GiB".
[[nodiscard]] std::string mib_in_words(double mib);

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

}  // namespace schedmate
