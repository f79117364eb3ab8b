// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "service/whatif.hpp"

namespace schedmate {

/// Jobs, cluster, limits, warm-up.
[[nodiscard]] std::string world_text(const service::WhatifAnswer& answer);
/// How near the replay comes, and the verdict.
[[nodiscard]] std::string fidelity_text(const service::WhatifAnswer& answer);
/// Failures; then for each policy who gains and who loses.
[[nodiscard]] std::string changes_text(const service::WhatifAnswer& answer);

}  // namespace schedmate
