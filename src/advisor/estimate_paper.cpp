// SPDX-License-Identifier: Apache-2.0

/// The paper's estimate: the plain mean of the matches' duration, GPU utilisation and memory; with
/// no match it has none, and the host's own estimator goes on (4.1).

#include <algorithm>
#include <schedmate/paper.hpp>

#include "advisor/estimates.hpp"

namespace schedmate::advisor {

Estimate estimate_paper(const EstimateInput& input) {
  std::vector<PastRun> runs;
  for (const PastRun& run : input.matches)
    if (!ended_early(run) && runs.size() < input.averaged) runs.push_back(run);
  Estimate estimate;
  if (runs.empty()) return estimate;
  const auto [least, most] = std::ranges::minmax(runs, {}, &PastRun::duration);
  FractionalSeconds sum{0};
  for (const PastRun& run : runs) sum += run.duration;
  estimate.source = input.source;
  estimate.runs = runs.size();
  estimate.mean = estimate.p50 = sum / static_cast<double>(runs.size());
  estimate.p10 = least.duration;
  estimate.p90 = most.duration;
  estimate.notes.emplace_back("p10 and p90 are the shortest and the longest match");
  average_gpu_use(runs, estimate);
  keep_within(input.limit, estimate);
  return estimate;
}

/// The paper has one figure, of completed runs, and neither ends before that nor limits.
RunAnswer answer_paper(const EstimateInput& input) {
  const Estimate estimate = estimate_paper(input);
  RunAnswer answer;
  if (estimate.source == AdviceSource::none) return answer;
  answer.source = estimate.source;
  answer.runs_by_state[EndState::completed] = estimate.runs;
  answer.mean = estimate.mean;
  answer.p10 = estimate.p10;
  answer.p50 = answer.centre = estimate.p50;
  answer.p90 = estimate.p90;
  return answer;
}

}  // namespace schedmate::advisor
