// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The pages of the evaluation report that hold for every experiment.

#include <string>
#include <vector>

#include "evaluation_report/page.hpp"

namespace schedmate::evaluation_report {

/// `not_from_reading`: where the Advisor does not help by what it reads.
void add_front_page(Page& report, const std::vector<std::string>& not_from_reading);
/// Under errors of estimates.
[[nodiscard]] std::string estimates_note();
void add_limits_page(Page& report);

}  // namespace schedmate::evaluation_report
