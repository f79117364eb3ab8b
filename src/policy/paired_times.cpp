// SPDX-License-Identifier: Apache-2.0
#include "policy/paired_times.hpp"

#include <algorithm>
#include <cmath>

namespace schedmate::policy {

Seconds expected_run(const JobInfo& job) {
  constexpr double longest_s = 1e10;  // keeps every sum of times in range
  const double run_s = std::clamp(job.estimate.count(), 1.0, longest_s);
  return Seconds(static_cast<std::int64_t>(std::ceil(run_s)));
}

Seconds expected_left(const JobInfo& job, SimTime now) {
  constexpr double longest_s = 1e10;
  const double left_s = std::min(job.remaining(now).count(), longest_s);
  if (left_s >= 1) return Seconds(static_cast<std::int64_t>(std::ceil(left_s)));
  return std::max(job.run_time(now), Seconds(1));
}

void PairedTimes::follow_size(const Cluster& cluster) {
  if (cluster.node_end() == node_end_ && cluster.node_count() == nodes_up_) return;
  node_end_ = cluster.node_end();
  nodes_up_ = cluster.node_count();
  for (std::uint32_t node = 0; node < node_end_; ++node) times_.follow(cluster, node);
}

void PairedTimes::start(JobId job, Placement where, SimTime until) {
  runs_[job] = {until, {}, true};
  times_.hold(job, std::move(where), until);
}

SimTime PairedTimes::both_until(JobId job) const {
  const Run& run = runs_.at(job);
  return run.partner ? std::max(run.until, runs_.at(*run.partner).until) : run.until;
}

void PairedTimes::join(const Pair& pair) {
  Run& resident = runs_.at(pair.resident);
  resident.partner = pair.newcomer;
  resident.until = pair.resident_until;
  runs_[pair.newcomer] = {pair.newcomer_until, pair.resident, false};
  times_.expect(pair.resident, both_until(pair.resident));
}

void PairedTimes::leave(JobId job, const Cluster& cluster) {
  if (!runs_.contains(job)) return;  // its partner has left, too, and it held nothing more
  const Run gone = runs_.at(job);
  runs_.erase(job);
  if (gone.holds) times_.free(job);
  Run* const other = gone.partner ? runs_.find(*gone.partner) : nullptr;
  if (other == nullptr) return;
  other->partner.reset();
  const Placement& where = cluster.allocation(*gone.partner);
  if (!gone.holds) {
    times_.expect(*gone.partner, other->until);
  } else if (where.empty()) {  // it has ended as well
    runs_.erase(*gone.partner);
  } else {
    other->holds = true;
    times_.hold(*gone.partner, where, other->until);
  }
}

void PairedTimes::expect_overdue(const View& view) {
  for (const auto* end = times_.next_end(); end != nullptr && end->at <= view.now;
       end = times_.next_end()) {
    const JobId holder = end->job;
    const auto prolong = [&](JobId id) {
      Run& run = runs_.at(id);
      const Seconds so_far = std::max(view.now - view.job(id).run_since, Seconds(1));
      if (run.until <= view.now) run.until = view.now + so_far;
    };
    prolong(holder);
    if (const auto partner = runs_.at(holder).partner) prolong(*partner);
    times_.expect(holder, both_until(holder));
  }
}

}  // namespace schedmate::policy
