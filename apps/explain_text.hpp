// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "study/explain.hpp"

namespace schedmate {

/// Why the job waited, a line for each wait.
[[nodiscard]] std::string explanation_text(const study::Explanation& explanation,
                                           const Trace& trace);

}  // namespace schedmate
