// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/diagnosis.hpp>
#include <string>
#include <vector>

namespace schedmate::screen {

/// Verdict, evidence and witnesses, with what is to be said beside them.
[[nodiscard]] std::string diagnosis_text(const Diagnosis& made,
                                         const std::vector<std::string>& notes);

}  // namespace schedmate::screen
