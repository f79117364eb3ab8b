// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "service/ask.hpp"

namespace schedmate::screen {

/// Each question with its answer and the lines that it rests on.
[[nodiscard]] std::string answers_text(const service::AskAnswer& all);

}  // namespace schedmate::screen
