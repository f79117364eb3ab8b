// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The evaluation report: made of the CSVs alone, each number with the line that it stands on.

#include <vector>

#include "evaluation_report/figure_rows.hpp"
#include "evaluation_report/page.hpp"

namespace schedmate::evaluation_report {

/// What is evidence and what is construction, all gains and verdicts in short, each experiment, and
/// what this does not show.
[[nodiscard]] Page whole_report(const std::vector<Chapter>& chapters);

/// The same in parts: the report with links into `folder` in place of the experiments, and the page
/// NAME.md that stands there for each of them.
[[nodiscard]] Page evaluation_front(const std::vector<Chapter>& chapters,
                                    const std::string& folder);
[[nodiscard]] Page experiment_page(const Chapter& chapter);

}  // namespace schedmate::evaluation_report
