// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/progress.hpp>
#include <string>

namespace schedmate::screen {

/// How far a job is, a line for each value.
[[nodiscard]] std::string progress_text(const Progress& progress);

}  // namespace schedmate::screen
