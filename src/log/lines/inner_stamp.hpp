// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Time stamps that stand within a line: behind what was said, or as a field of a JSON line.

#include <string>

#include "log/lines/clean.hpp"

namespace schedmate::lines {

/// Gives a line without a stamp in front the one that stands in it ("step 3 | 2024-03-01 10:00:05",
/// "timestamp": 1700000150.12), and takes it out of the body, which then lies in `scratch`. The
/// time at which something is expected to end, and names of files, are none, and go as well: their
/// clocks are no times of a step.
void extract_stamp(PrefixedLine& line, std::string& scratch);

}  // namespace schedmate::lines
