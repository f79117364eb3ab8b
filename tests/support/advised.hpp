// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a replay knows whose jobs have metadata, so that there is an Advisor.

#include <schedmate/workload.hpp>

#include "advisor/advisor_on.hpp"
#include "tests/support/estimators.hpp"

namespace schedmate::testing {

inline EstimatorInput replay_input(const Trace& trace, std::uint64_t seed,
                                   const Workload* workload) {
  EstimatorInput input = replay_input(trace, seed);
  if (workload == nullptr) return input;
  input.truth = Truth(trace, workload->template_of_row);
  input.advisor = advisor::advisor_on(trace, *workload);
  return input;
}

}  // namespace schedmate::testing
