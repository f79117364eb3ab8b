// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/advice.hpp>
#include <string>

namespace schedmate::screen {

/// Advice for people, in a terminal of so many columns; 0: none. `explain`: with every fact.
[[nodiscard]] std::string advice_text(const Advice& advice, bool explain, std::size_t columns);

}  // namespace schedmate::screen
