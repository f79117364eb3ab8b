// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Finish-time fairness after Themis (Mahajan and others, NSDI 2020, section 3): rho is a job's JCT
/// in the shared cluster over its JCT alone on an equal share of it. Here the share is that of a
/// user in the job's VC: GPUs of the VC over N, the mean number of users with unfinished jobs there
/// while the job was in the system. A gang larger than the share runs longer in proportion, so the
/// JCT on the share is duration * max(1, gpus * N / GPUs). Both JCTs count as at least
/// slowdown_threshold. Departure: Themis takes N over applications and models their scaling; traces
/// show neither.

#include <schedmate/report.hpp>
#include <vector>

namespace schedmate::report {

/// rho of each finished job, in trace order; other jobs are left out.
[[nodiscard]] std::vector<double> finish_fairness(const RunRecord& record);

}  // namespace schedmate::report
