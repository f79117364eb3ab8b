// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What may be recommended, and which nodes may be named: a log alone blames no machine.

#include <schedmate/diagnosis.hpp>
#include <string_view>

namespace schedmate {

struct RecommendInput {
  std::string_view line;  ///< that names the cause
  int rank = -1;          ///< that printed it
  const std::optional<JobContext>& job;
};

/// Hears the scheduler's state and the witnesses that came along. Where none of them agrees,
/// restart_elsewhere becomes test_first and no node is named; for infrastructure a missing witness
/// is told.
void settle_recommendation(const RecommendInput& input, Diagnosis& made);

/// The log has no failure, but the scheduler may know of one.
void settle_without_line(const std::optional<JobContext>& job, Diagnosis& made);

}  // namespace schedmate
