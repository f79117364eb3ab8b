// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace schedmate {

/// "add", "finish", ...: what may follow `schedmate history`.
[[nodiscard]] std::vector<std::string> history_actions();

}  // namespace schedmate
