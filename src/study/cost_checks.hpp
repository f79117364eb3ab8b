// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Whether costs (cost.*) that were set mean something on a trace.

#include <schedmate/trace.hpp>
#include <string>
#include <vector>

#include "settings/settings.hpp"

namespace schedmate::study {

/// Errors: unsupported where shares of the same failures are more than all of them, and where jobs
/// fail so often that one hardly ever reaches its next checkpoint (the worst is named).
[[nodiscard]] Result<void> check_costs(const settings::Settings& settings, const Trace& trace);

/// A sentence for each cost of failures that was given while nothing fails.
[[nodiscard]] std::vector<std::string> idle_costs(const settings::Settings& settings);

}  // namespace schedmate::study
