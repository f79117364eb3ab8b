// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/llm.hpp>

namespace schedmate {

/// The clock that deadlines and waits go by.
[[nodiscard]] Clock machine_clock();

}  // namespace schedmate
