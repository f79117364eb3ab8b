// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "queue/why.hpp"

namespace schedmate::screen {

/// Why one job waits, when it starts, and what would start it earlier.
[[nodiscard]] std::string why_text(const queue::Why& why);

}  // namespace schedmate::screen
