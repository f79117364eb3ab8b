// SPDX-License-Identifier: Apache-2.0
#pragma once

/// An experiment's outcome on a terminal and for programs.

#include <string>
#include <vector>

#include "base/document.hpp"
#include "evaluation_report/figure_rows.hpp"

namespace schedmate::evaluation_report {

/// One line an arm: mean ln ratio and average JCT x with their intervals, and whether it is safe.
[[nodiscard]] std::string text_of(const Chapter& chapter);

/// schedmate.evaluate.v1: every figure of every arm, with the line of the CSV on which it stands,
/// and the paths of the page and the report.
[[nodiscard]] Document evaluation_document(const std::vector<Chapter>& chapters,
                                           const std::string& page, const std::string& report);

}  // namespace schedmate::evaluation_report
