// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <schedmate/costs.hpp>

#include "base/random.hpp"

namespace schedmate {

void end_early(Trace& trace, double share, std::uint64_t seed) {
  if (!(share > 0)) return;
  for (std::size_t row = 0; row < trace.jobs.size(); ++row) {
    Random random(mix(seed ^ 0xea71) ^ mix(row));
    if (random.uniform() >= share) continue;
    Job& job = trace.jobs[row];
    const double after_s = random.uniform() * static_cast<double>(job.duration.count());
    job.duration = std::min(job.duration, Seconds(1 + static_cast<std::int64_t>(after_s)));
    job.state = EndState::cancelled;
  }
}

}  // namespace schedmate
