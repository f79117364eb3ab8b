// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/estimator.hpp>

namespace schedmate::policy {

/// Boosted trees on the log of the run time, refitted each day (of the trace's clock) on what had
/// ended in the VC by midnight. They stand in for the learned estimators of Lucid (EBM)
/// and QSSF (LightGBM), of which no model is released. Until 50 jobs
/// have ended by a midnight, and should a fit fail, `fallback` predicts.
/// `profiled`: also GPU use and precision of a job that Lucid's profiler takes, as measured there.
/// Remembers the latest half a million jobs.
[[nodiscard]] Estimator gbdt_on(Estimator fallback, bool profiled);

}  // namespace schedmate::policy
