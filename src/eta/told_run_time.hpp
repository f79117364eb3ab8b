// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Run times of a job that somebody tells: the Advisor of the whole run, its log of what is left.

#include <schedmate/eta.hpp>
#include <schedmate/run_time.hpp>

namespace schedmate::eta {

/// The log-logistic law on either side of the median with these quantiles. Who has run far beyond
/// p90 goes on in proportion.
[[nodiscard]] RunTimeCurve curve_of(const RunTimeDistribution& told);

/// What the log of a running job says.
struct ToldProgress {
  double ran_s = 0;   ///< when its last line was written
  double left_s = 0;  ///< from then on, of the work that the log counts
};

/// Nearly all that the log counts is done, and then what it does not count (a last evaluation,
/// checkpoints); but one in five runs ends as the past says, being stopped or failing
/// (docs/eta.md).
[[nodiscard]] RunTimeBelief with_progress(const RunTimeCurve& past, const ToldProgress& told);

}  // namespace schedmate::eta
