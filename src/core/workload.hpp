// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Made-up workloads for real jobs. The public traces say nothing about what a job computes;
/// packing needs to know. A job gets the profile of its template (user, VC, GPU count), drawn from
/// the seed: resubmissions are alike, and the duration plays no part, so no estimator can read it
/// off the profile (traces.md 3, "trap").

#include <cstdint>
#include <memory>
#include <schedmate/job.hpp>

namespace schedmate {

/// Sets Trace::packing and every Job::profile. A trace that has tables of its own is left alone.
void assign_profiles(Trace& trace, std::shared_ptr<const PackingTables> tables, std::uint64_t seed);

}  // namespace schedmate
