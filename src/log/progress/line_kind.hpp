// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Whether a line reports training steps, something held out, or neither.

#include "log/progress/line_parts.hpp"
#include "log/progress/reading.hpp"

namespace schedmate::progress {

/// "Epoch 1 | val | 90/100 | ...": a field of its own before the counter.
[[nodiscard]] bool names_held_out(const LineParts& parts);
[[nodiscard]] Reading::Kind kind_of(const LineParts& parts, const Reading& reading);

}  // namespace schedmate::progress
