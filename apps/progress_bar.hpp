// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/clock.hpp>

#include "apps/console.hpp"
#include "settings/progress.hpp"

namespace schedmate {

/// A bar on standard error for work that has lasted over a second, wiped when the work ends;
/// nothing is drawn without a console.
[[nodiscard]] settings::BeginProgress progress_bars(const Console* console, const Clock& clock);

}  // namespace schedmate
