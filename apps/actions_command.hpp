// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace schedmate {

/// What `schedmate actions` does with one action, for completion.
[[nodiscard]] std::vector<std::string> action_verbs();

}  // namespace schedmate
