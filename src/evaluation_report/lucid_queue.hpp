// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which queue lucid+sm had when rows were made: Lucid's, or later one of its own (decision 0012).

#include <string>

#include "evaluation_report/figure_rows.hpp"

namespace schedmate::evaluation_report {

/// Rows of before that queue. In them all perturbations have the same workload, too, and schedmate
/// has its earlier order. False where rows do not say: those of estimators and of elastic jobs.
[[nodiscard]] bool is_before_queue(const Chapter& chapter);
/// The same, where an arm is lucid+sm.
[[nodiscard]] bool has_lucids_queue(const Chapter& chapter);
/// What names mean in these rows that have changed their meaning; "" where none has.
[[nodiscard]] std::string queue_note(const Chapter& chapter);
/// After the name of an experiment in a table: how old its rows are; "" where they are not.
[[nodiscard]] std::string age_of(const Chapter& chapter);

}  // namespace schedmate::evaluation_report
