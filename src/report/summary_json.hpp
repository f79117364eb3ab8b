// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/report.hpp>
#include <span>

#include "base/document.hpp"

namespace schedmate::report {

/// schedmate.simulation.v1, what summary_json() is the text of.
[[nodiscard]] Document summary_document(const Experiment& experiment,
                                        std::span<const RunSummary> runs);

}  // namespace schedmate::report
