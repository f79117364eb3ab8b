// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "study/explain.hpp"

namespace schedmate::screen {

/// Why the job waited, a row for each wait, in a terminal of so many columns; 0: none.
[[nodiscard]] std::string explanation_text(const study::Explanation& explanation,
                                           const Trace& trace, std::size_t columns);

}  // namespace schedmate::screen
