// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "log/progress/tracker.hpp"

namespace schedmate::progress {

/// Puts what is open to the reader, one question after the other, and reports to it what became of
/// its answers.
void put_questions(ProgressTracker& tracker, ShapeReader& reader);

}  // namespace schedmate::progress
