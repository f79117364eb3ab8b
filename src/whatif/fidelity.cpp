// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "whatif/compare.hpp"

namespace schedmate::whatif {
namespace {

constexpr double least_allowed_s = 600;
constexpr double allowed_share = 0.2;
constexpr double near_s = 60;

double seconds(Seconds duration) { return static_cast<double>(duration.count()); }

/// Nearest rank; 0 of nothing. `values` are reordered.
double quantile(std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  const auto at = static_cast<std::ptrdiff_t>(std::max(1.0, rank)) - 1;
  std::ranges::nth_element(values, values.begin() + at);
  return values[static_cast<std::size_t>(at)];
}

}  // namespace

Fidelity measure_fidelity(const RecordedCluster& world, const SimResult& replay) {
  Fidelity found;
  std::vector<double> errors;
  std::uint64_t started = 0;
  std::uint64_t near = 0;
  for (std::size_t row = 0; row < world.past.size(); ++row) {
    const PastJob& past = world.past[row];
    const JobOutcome& outcome = replay.outcomes[row];
    if (past.censored) ++found.censored;
    if (past.pinned) {
      ++found.pinned;
      if (!outcome.started || outcome.start != past.start) ++found.pinned_elsewhen;
      continue;
    }
    found.real_wait_s += seconds(past.start - past.eligible);
    if (!outcome.started) {
      errors.push_back(std::numeric_limits<double>::infinity());
      ++found.never_started;
      continue;
    }
    const double error = seconds(outcome.start - past.start);
    errors.push_back(std::abs(error));
    if (std::abs(error) <= near_s) ++near;
    found.mean_error_s += error;
    found.replay_wait_s += seconds(outcome.start - past.eligible);
    ++started;
  }
  found.jobs = errors.size();
  const auto all = static_cast<double>(std::max<std::uint64_t>(1, found.jobs));
  const auto some = static_cast<double>(std::max<std::uint64_t>(1, started));
  found.real_wait_s /= all;
  found.mean_error_s /= some;
  found.replay_wait_s /= some;
  found.within_60_s = static_cast<double>(near) / all;
  found.median_error_s = quantile(errors, 0.5);
  found.p90_error_s = quantile(errors, 0.9);
  found.allowed_s = std::max(least_allowed_s, allowed_share * found.real_wait_s);
  return found;
}

}  // namespace schedmate::whatif
