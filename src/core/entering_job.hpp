// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/estimator.hpp>
#include <schedmate/policy.hpp>

namespace schedmate {

/// What a policy is told of a job that enters its queue now. The texts are those of `job`.
[[nodiscard]] JobInfo entering_job(const KnownJob& job, const Prediction& prediction, SimTime now);

/// GPU use that was predicted, as a policy reads one that was measured.
[[nodiscard]] Profile profile_of(const GpuUse& use, const SharingRule& sharing);

}  // namespace schedmate
