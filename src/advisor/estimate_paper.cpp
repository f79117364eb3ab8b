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

}  // namespace schedmate::advisor
