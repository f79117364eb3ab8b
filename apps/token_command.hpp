// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace schedmate {

/// What `schedmate token` does, for completion.
[[nodiscard]] std::vector<std::string> token_actions();

}  // namespace schedmate
