// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The tables of report.html, one per function, as HTML.

#include <schedmate/report.hpp>
#include <span>
#include <string>

namespace schedmate::report {

/// One row per label; `mark_best`: with the best value of each column, which is no oracle's.
[[nodiscard]] std::string results_html(std::span<const RunSummary> runs, bool mark_best);
/// Average waiting by job size: labels down, size classes across, with bars.
[[nodiscard]] std::string waiting_html(std::span<const RunSummary> runs);
/// Policy text, estimator, seed and settings of each label.
[[nodiscard]] std::string settings_html(std::span<const RunSummary> runs);

}  // namespace schedmate::report
