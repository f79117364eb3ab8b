// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The ordered lists that a job stands in, for the stores that keep them by hand (memory, redis).
/// Each is sorted by submission and id; a filter reads the narrowest list and tests the rest.

#include <array>
#include <schedmate/store.hpp>
#include <string>

namespace schedmate::store {

/// The list of its text comes last, that of its failure is apart.
[[nodiscard]] std::array<std::string, 5> lists_of(const JobRecord& record);
/// Of the jobs with one fingerprint; a job enters it when it ends.
[[nodiscard]] std::string failure_list(const std::string& fingerprint);
[[nodiscard]] std::string narrowest_list(const JobFilter& filter);
[[nodiscard]] bool matches(const JobFilter& filter, const JobRecord& record);

/// Leaves out what `JobFilter::brief` leaves out.
void make_brief(JobRecord& record);

}  // namespace schedmate::store
