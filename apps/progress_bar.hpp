// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/clock.hpp>

#include "settings/progress.hpp"

namespace schedmate {

/// A bar on standard error for work that has lasted over a second, wiped when the work ends;
/// nothing is drawn unless `enabled`.
[[nodiscard]] settings::BeginProgress progress_bars(bool enabled, const Clock& clock);

}  // namespace schedmate
