// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Perturbed traces: the same jobs, submitted a little later.

#include <cstdint>
#include <schedmate/job.hpp>

namespace schedmate::study {

/// Each submission 0, 1 or 2 s later, drawn by `seed` and row; jobs are sorted by time again, equal
/// times in the old order. Everything that goes with a row goes along with it.
void delay_submissions(Trace& trace, std::uint64_t seed);

}  // namespace schedmate::study
