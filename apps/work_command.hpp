// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace schedmate {

/// What `schedmate work` does, for completion.
[[nodiscard]] std::vector<std::string> work_actions();

}  // namespace schedmate
