// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/clock.hpp>

namespace schedmate::settings {

/// The clocks of this machine: the one place that reads them.
[[nodiscard]] Clock machine_clock();

}  // namespace schedmate::settings
