// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which numbers of a line count steps and epochs.

#include "log/progress/line_parts.hpp"
#include "log/progress/reading.hpp"

namespace schedmate::progress {

void read_counters(LineParts& parts, Reading& reading);

}  // namespace schedmate::progress
