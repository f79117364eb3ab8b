// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How far off estimators are: experiments with `estimates = true` (paper, Figure 14).

#include <cstdint>
#include <schedmate/job.hpp>
#include <span>
#include <string>
#include <vector>

#include "study/figures.hpp"
#include "study/trace_workload.hpp"

namespace schedmate::study {

/// Relative errors |predicted - true| / true over the jobs that count, each as a share.
struct EstimateErrors {
  std::uint64_t jobs = 0;        ///< that count
  std::vector<double> run_time;  ///< of those with an estimate, ascending; truth at least 1 s
  std::vector<double> gpu_util;  ///< of the jobs whose GPU use was predicted
};

struct ErrorInput {
  Trace& trace;  ///< has the workload's profiles while it runs
  const ClusterSpec& cluster;
  const TraceWorkload* workload = nullptr;
  std::uint64_t seed = 1;
  SimTime counted_from;  ///< jobs submitted before are left out
};
/// Predictions of `estimator` when each job enters under fifo: all estimators see the same past.
/// Errors: of making the estimator.
[[nodiscard]] Result<EstimateErrors> estimate_errors(const ErrorInput& input,
                                                     const std::string& estimator);

/// within_10 ... within_500 (of all jobs), median_error, given, use_given, use_error over the
/// perturbations.
[[nodiscard]] std::vector<FigureRow> estimate_rows(const FigureRow& base,
                                                   std::span<const EstimateErrors> perturbations);

}  // namespace schedmate::study
