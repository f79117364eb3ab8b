// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <schedmate/advice.hpp>
#include <string>
#include <vector>

namespace schedmate::advisor {

/// A past job that the estimate stands on.
template <class Job>
struct Matched {
  Job job;
  PastRun run;
  std::string rule;  ///< why it is an earlier submission; "" = it is similar
};

/// What past jobs say of the job at hand.
template <class Job>
struct PastAdvice {
  Estimate estimate;
  std::optional<RunAnswer> answer;           ///< where it was asked for
  AdviceSource source = AdviceSource::none;  ///< of the matches
  std::vector<Matched<Job>> matches;         ///< best first
  std::string rule;          ///< of the nearest earlier submission, ran or not; "" = there is none
  std::string not_searched;  ///< why no similar job could be looked for, "" = nothing went wrong
};

}  // namespace schedmate::advisor
