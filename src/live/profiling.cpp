// SPDX-License-Identifier: Apache-2.0
/// The stage in front of the pools (Profiling).
#include <algorithm>

#include "live/loop.hpp"

namespace schedmate::live {

Loop::Pool* Loop::profiler() {
  if (options_.profiling.pool.empty()) return nullptr;
  const auto found = pools_.find(options_.profiling.pool);
  return found == pools_.end() ? nullptr : &found->second;
}

/// Small jobs' first attempts are the profiler's, unless somebody else has started them elsewhere.
Loop::Pool* Loop::pool_of(const SeenJob& job) {
  Pool* const home = home_of(job);
  Pool* const first = profiler();
  if (home == nullptr || first == nullptr || is_measured(job) || bypassing_.contains(job.id) ||
      job.gpus > options_.profiling.max_gpus || job.gpus > first->cluster.gpus() ||
      job.gpus > home->cluster.gpus())
    return home;
  const bool is_elsewhere = !job.nodes.empty() && !first->cluster.has(job.nodes.front().node);
  return is_elsewhere ? home : first;
}

bool Loop::is_measured(const SeenJob& job) {
  return profiler() != nullptr && job.restarts > 0 && job.gpus <= options_.profiling.max_gpus;
}

/// Its use of GPUs is expected already (paper 4.1).
bool Loop::skips_profile(const Attempt& attempt, SimTime now) {
  using enum ProfilerStage::Bypass;
  const Profiling& stage = options_.profiling;
  const Pool* const home = home_of(attempt.seen);
  if (stage.bypass == none || home == nullptr) return false;
  const Prediction* const advice = advice_on(attempt.seen.id);
  const Prediction expected =
      advice != nullptr ? *advice : home->cluster.predict(known(attempt), now);
  const bool ends_there =
      stage.bypass == outlasting && expected.run_time <= FractionalSeconds(stage.time);
  const Pool* const first = profiler();
  const auto fits = [&](const Pool& pool) {
    return pool.cluster.cluster().fits(attempt.seen.gpus);
  };
  const bool would_wait = stage.bypass == free && first != nullptr && fits(*first) && !fits(*home);
  return expected.use && !ends_there && !would_wait;
}

/// Those that have run for as long as the profiler takes leave it, without their progress.
void Loop::end_profiles(SimTime now) {
  std::vector<std::uint64_t> due;
  for (const auto& [number, until] : profiles_)
    if (until <= now) due.push_back(number);
  for (const std::uint64_t number : due) {
    const auto id = ids_.find(number);
    const Attempt* const attempt = id == ids_.end() ? nullptr : jobs_.find(id->second);
    profiles_.erase(number);
    if (attempt == nullptr || attempt->number != number) continue;
    Proposal proposal;
    proposal.of_policy = true;
    proposal.call = {.kind = ActionKind::evict,
                     .job = attempt->seen.id,
                     .submitted = attempt->seen.submitted,
                     .restarts = attempt->seen.restarts};
    proposal.why = {"it has been measured"};
    const auto action = actions_.propose(std::move(proposal), now);
    constexpr Seconds again{60};
    if (!action)
      profiles_[number] = now + again;
    else if (actions_.is_to_be_called(*action))
      profiler_calls_.insert(*action);
  }
}

}  // namespace schedmate::live
