// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the paper claims beside what was measured here, claim by claim.

#include <vector>

#include "evaluation_report/figure_rows.hpp"
#include "evaluation_report/page.hpp"

namespace schedmate::evaluation_report {

/// Only claims of experiments that are in the report.
void add_claims(Page& report, const std::vector<Chapter>& chapters);

/// Which part of SchedMate does what in Lucid, and what true knowledge would be worth there.
void add_bounds_page(Page& report, const std::vector<Chapter>& chapters);

}  // namespace schedmate::evaluation_report
