// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "screen/screen.hpp"
#include "service/report.hpp"

namespace schedmate::screen {

/// Lines of totals, the table of jobs (at most `most`, 0 = all) or groups, why and where jobs
/// failed. No line is wider than the screen.
[[nodiscard]] std::string report_text(const service::UsageReport& report, const ScreenStyle& style,
                                      std::size_t most);

}  // namespace schedmate::screen
