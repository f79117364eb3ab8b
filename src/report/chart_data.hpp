// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What report.js draws, as JSON that may stand inside <script>.

#include <schedmate/report.hpp>
#include <span>
#include <string>

namespace schedmate::report {

[[nodiscard]] std::string chart_data(std::span<const RunSummary> runs);

}  // namespace schedmate::report
