// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a replay knows, for tests, and estimators by their command-line name.

#include <schedmate/estimator.hpp>
#include <string_view>
#include <vector>

#include "tests/support/need.hpp"

namespace schedmate::testing {

inline EstimatorInput replay_input(const Trace& trace, std::uint64_t seed = 1) {
  EstimatorInput input{.seed = seed, .truth = Truth(trace)};
  if (trace.packing != nullptr) input.sharing = trace.packing->sharing;
  return input;
}

inline Estimator estimator(std::string_view spec, const Trace& trace, std::uint64_t seed = 1) {
  return need(make_estimator(spec, replay_input(trace, seed)));
}

/// As it is submitted.
inline Prediction predicted_of(const Estimator& estimator, const Trace& trace, std::size_t row) {
  const KnownJob job = known_job(trace, row);
  return estimator({job, job.submit});
}

/// Notes at each question how many jobs have ended by then.
struct CountsEnds {
  std::vector<std::int64_t>& asked;
  std::int64_t ended = 0;

  void learn(const FinishedJob&) { ++ended; }
  Prediction operator()(const EnteringJob&) {
    asked.push_back(ended);
    return Prediction{FractionalSeconds(1)};
  }
};

}  // namespace schedmate::testing
