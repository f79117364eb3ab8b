// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What of an experiment is evidence for reading code, and where reading is not what helps.

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "evaluation_report/figure_rows.hpp"

namespace schedmate::evaluation_report {

/// Beside each gain on made-up metadata; `columns`: the figures that the chapter's tables show.
[[nodiscard]] std::string construction_note(const std::set<std::string_view>& columns);
/// Where templates are cut by duration.
[[nodiscard]] std::string leaks_note();
/// Likewise under elastic experiments.
[[nodiscard]] std::string elastic_note(const study::ExperimentFile& experiment);

/// Where arms named sm are not shown to gain by what they read, a sentence each.
[[nodiscard]] std::vector<std::string> not_from_reading(const std::vector<Chapter>& chapters);

}  // namespace schedmate::evaluation_report
