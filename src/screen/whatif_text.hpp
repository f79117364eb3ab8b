// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lab/whatif.hpp"

namespace schedmate::screen {

/// Each in a terminal of so many columns; 0: none.

/// Jobs, cluster, limits, warm-up.
[[nodiscard]] std::string world_text(const lab::WhatifAnswer& answer, std::size_t columns);
/// How near the replay comes.
[[nodiscard]] std::string fidelity_text(const lab::WhatifAnswer& answer, std::size_t columns);
/// The verdict, a row a policy, failures; then who gains and who loses: in a terminal under the
/// best policy alone.
[[nodiscard]] std::string changes_text(const lab::WhatifAnswer& answer, std::size_t columns);

}  // namespace schedmate::screen
