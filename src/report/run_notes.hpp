// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a reader must know of runs before comparing them: what was invented, what knows the
/// future, what a profiler takes from the cluster, whether SchedMate's advice was used.

#include <schedmate/report.hpp>
#include <span>
#include <string>
#include <vector>

namespace schedmate::report {

/// One sentence and the runs of which it is true.
struct RunNote {
  std::vector<std::string> labels;
  std::string text;
};

/// In the order of the runs; equal sentences are one note. Labels and text are as given: not yet
/// safe for a terminal or a page.
[[nodiscard]] std::vector<RunNote> run_notes(std::span<const RunSummary> runs);

/// What the run's profiler has for itself and, where that is a tenth of the cluster or more, what
/// it does to a comparison; none without a profiler.
[[nodiscard]] std::vector<std::string> profiler_notes(const RunSummary& run);

}  // namespace schedmate::report
