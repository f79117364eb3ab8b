// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The Failure Handler's gain over a swept setting, as the delay of restarts by hand.

#include <string>

#include "evaluation_report/figure_rows.hpp"
#include "evaluation_report/page.hpp"

namespace schedmate::evaluation_report {

/// A point of the sweep as its table has it: with the cause whose published delay it is.
[[nodiscard]] std::string named_point(const study::ExperimentFile& experiment,
                                      const std::string& point);

/// Of the arms with a handler: the published delays, where each breaks even, and its curve.
void add_recovery(Page& report, const Chapter& chapter, const std::string& trace);

}  // namespace schedmate::evaluation_report
