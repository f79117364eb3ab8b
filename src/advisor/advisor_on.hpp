// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The Advisor as an estimator in a replay: what EstimatorInput::advisor holds there. src/policy
/// does not know it; who makes the estimators hands it in.

#include <functional>
#include <memory>
#include <schedmate/estimator.hpp>

namespace schedmate {
struct Workload;
}

namespace schedmate::advisor {

/// What the Advisor makes of a workload's jobs, and of each pair of them: costly, and the same in
/// every replay of the workload. Threads may share it.
class ComparedJobs;
[[nodiscard]] std::shared_ptr<ComparedJobs> compared_jobs();

/// Of the jobs of a trace with this metadata; both outlive what is made. `compared`: of this
/// workload, its rows in any order; null = made again.
[[nodiscard]] std::function<Estimator(const AdvisorChoice&)> advisor_on(
    const Trace& trace, const Workload& workload, std::shared_ptr<ComparedJobs> compared = nullptr);

}  // namespace schedmate::advisor
