// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which numbers of a line are times, rates and throughputs.

#include "log/progress/line_parts.hpp"
#include "log/progress/reading.hpp"

namespace schedmate::progress {

void read_times(const LineParts& parts, Reading& reading);

/// "Batch 0.51 (0.60)", "Step: 120ms": the word of a counter before what is the time of a step.
[[nodiscard]] bool is_step_itself(const LineParts& parts, std::size_t i);

}  // namespace schedmate::progress
