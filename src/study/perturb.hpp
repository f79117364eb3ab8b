// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Paired perturbations: the same trace with submissions that come up to two seconds later.

#include <cstdint>
#include <schedmate/job.hpp>
#include <schedmate/workload.hpp>
#include <vector>

namespace schedmate::study {

struct Perturbed {
  Trace trace;                      ///< ids point into the text of the trace it was made of
  std::vector<std::uint32_t> rows;  ///< by row of `trace`: row of the trace it was made of
};
/// Each submission 0, 1 or 2 s later, drawn by `seed` and row; jobs are sorted by time again, equal
/// times in the old order. Everything that goes with a row goes along with it.
[[nodiscard]] Perturbed perturb(const Trace& trace, std::uint64_t seed);

/// The workload of the perturbed trace: every job keeps its template, profile, facts and place.
[[nodiscard]] Workload permuted(const Workload& workload, const std::vector<std::uint32_t>& rows);

}  // namespace schedmate::study
