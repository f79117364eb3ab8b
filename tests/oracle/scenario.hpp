// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Small random inputs that are full of ties and special cases, and how to make them smaller.

#include <functional>
#include <string>

#include "tick_model.hpp"

namespace oracle {

/// Equal seeds give equal scenarios on every machine.
[[nodiscard]] TickInput random_scenario(std::uint64_t seed);

/// Leaves out jobs, VCs staying as they are, as long as the input still `fails`.
[[nodiscard]] TickInput shrink(TickInput input, const std::function<bool(const TickInput&)>& fails);

/// For a person to read: VCs, jobs, and the tables' rows that they use.
[[nodiscard]] std::string listing(const TickInput& input);

}  // namespace oracle
