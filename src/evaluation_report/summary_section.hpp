// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "evaluation_report/figure_rows.hpp"
#include "evaluation_report/page.hpp"

namespace schedmate::evaluation_report {

/// Of each experiment the arm with the Advisor, or else the first with advice, at each point; and
/// every arm with advice that is not safe.
void add_summary(Page& report, const std::vector<Chapter>& chapters);

}  // namespace schedmate::evaluation_report
