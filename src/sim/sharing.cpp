// SPDX-License-Identifier: Apache-2.0
/// How jobs on the same GPUs slow each other down. A job runs at the speed of its slowest GPU; on
/// one GPU the pair speeds of its neighbours multiply (with two jobs on the same set
/// this is the released pair table).
#include <algorithm>
#include <bit>

#include "sim/engine.hpp"

namespace schedmate::sim {
namespace {

template <class Action>
void for_each_gpu(const Placement& where, Action action) {
  for (const Slice& slice : where) {
    for (std::uint64_t rest = slice.gpus; rest != 0; rest &= rest - 1) {
      action(slice.node, std::countr_zero(rest));
    }
  }
}

double utilisation(const Profile* profile) {
  return profile == nullptr ? 0 : profile->gpu_util_pct / 100;
}

}  // namespace

const Profile* Engine::true_profile(JobId id) const {
  const std::uint32_t profile = input_.trace.jobs[row_of(id)].profile;
  return profile == no_index ? nullptr : &input_.trace.packing->profiles[profile];
}

/// Running jobs on these GPUs; those that the same plan is about to start are left out.
std::vector<JobId> Engine::running_on(const Placement& where, JobId except) const {
  std::vector<JobId> others;
  for_each_gpu(where, [&](std::uint32_t node, int gpu) {
    for (const JobId other : cluster_.residents(node, gpu)) {
      if (other == except || !info(other).running) continue;
      if (std::ranges::find(others, other) == others.end()) others.push_back(other);
    }
  });
  return others;
}

Engine::Share Engine::share_of(JobId id) const {
  const Profile* profile = true_profile(id);
  Share share;
  bool first = true;
  for_each_gpu(cluster_.allocation(id), [&](std::uint32_t node, int gpu) {
    double rate = 1;
    double used = 0;
    bool free_pair = false;
    bool newcomer = true;  // those before us in the list were here first
    const auto residents = cluster_.residents(node, gpu);
    for (const JobId other : residents) {
      used += utilisation(true_profile(other));
      if (other == id) {
        newcomer = false;
        continue;
      }
      share.alone = false;
      const std::uint32_t ours = input_.trace.jobs[row_of(id)].profile;
      const std::uint32_t theirs = input_.trace.jobs[row_of(other)].profile;
      if (ours == no_index || theirs == no_index) continue;
      const PackingTables& tables = *input_.trace.packing;
      rate *= newcomer ? tables.rate(ours, theirs).newcomer : tables.rate(theirs, ours).resident;
      free_pair = free_pair || profile->interference_free || true_profile(other)->interference_free;
    }
    // The released code caps heavy pairs at 1, but its utilisations are percentages.
    const double cap = free_pair && input_.options.defects.util_unit_slip ? 0.01 : 1.0;
    share.used_gpus += std::min(cap, used) / static_cast<double>(residents.size());
    share.rate = first ? rate : std::min(share.rate, rate);
    first = false;
  });
  return share;
}

void Engine::update_sharing(JobId id) {
  sync(id);
  const Share share = share_of(id);
  if (share.alone && info(id).sharing) outcome(id).unpacked_at = now_;
  set_rate(id, share.rate);
  info(id).sharing = !share.alone;
  set_used(id, share.used_gpus);
  plan_end(id);
}

/// `id` has left the GPUs that it shared with `others`.
void Engine::part(JobId id, const std::vector<JobId>& others) {
  if (!info(id).sharing) return;
  bool restored = false;
  for (const JobId other : others) {
    // The released code restores the older of a pair, whichever of the two has ended.
    if (input_.options.defects.survivor_keeps_rate && at(other).order > at(id).order) continue;
    update_sharing(other);
    restored = true;
  }
  info(id).sharing = false;
  if (!restored && input_.options.defects.survivor_keeps_rate) {
    outcome(id).rate = 1;
    outcome(id).exclusive = true;
    outcome(id).unpacked_at = now_;
  }
}

void Engine::set_rate(JobId id, double rate) {
  outcome(id).rate = rate;
  JobInfo& job = info(id);
  if (!job.speed) return;
  job.speed = rate;
  job.speed_since = now_;
}

void Engine::set_used(JobId id, double used_gpus) {
  level_.used_gpus += used_gpus - at(id).used_gpus;
  at(id).used_gpus = used_gpus;
}

}  // namespace schedmate::sim
