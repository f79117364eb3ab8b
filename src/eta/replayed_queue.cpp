// SPDX-License-Identifier: Apache-2.0
#include "eta/replayed_queue.hpp"

#include <algorithm>

#include "eta/run_time_model.hpp"

namespace schedmate::eta {

ReplayedQueue::ReplayedQueue(const ReplayedTrace& replay) : replay_(replay) {
  for (const std::string& vc : replay.trace.vcs) {
    const auto& pools = replay.cluster.partitions;
    const auto found = std::ranges::find(pools, vc, &PartitionSpec::name);
    pool_of_vc_.push_back(found == pools.end() ? no_index
                                               : static_cast<std::uint32_t>(found - pools.begin()));
  }
}

std::vector<std::uint32_t> ReplayedQueue::rows_at(SimTime now) const {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < replay_.trace.jobs.size(); ++row) {
    const Job& job = replay_.trace.jobs[row];
    if (job.submit > now) break;
    const JobOutcome& outcome = replay_.outcomes[row];
    if (outcome.status == JobStatus::infeasible || pool_of_vc_[job.vc] == no_index) continue;
    if (outcome.status == JobStatus::finished && outcome.end <= now) continue;
    rows.push_back(row);
  }
  return rows;
}

std::vector<PastSubmission> ReplayedQueue::past(SimTime now) const {
  constexpr Seconds oldest{28 * 86'400};
  std::vector<PastSubmission> past;
  for (std::uint32_t row = 0; row < replay_.trace.jobs.size(); ++row) {
    const Job& job = replay_.trace.jobs[row];
    if (job.submit >= now) break;
    if (job.submit < now - oldest || pool_of_vc_[job.vc] == no_index) continue;
    const JobOutcome& outcome = replay_.outcomes[row];
    if (outcome.status == JobStatus::infeasible) continue;
    const bool ended = outcome.status == JobStatus::finished && outcome.end <= now;
    const bool started = outcome.started && outcome.start <= now;
    const Seconds ran = ended ? job.duration : started ? now - outcome.start : Seconds(0);
    past.push_back({job.submit, job.user, pool_of_vc_[job.vc], job.gpus,
                    static_cast<double>(ran.count()), ended,
                    FractionalSeconds(replay_.planned[row])});
  }
  return past;
}

QueueSnapshot ReplayedQueue::snapshot_at(SimTime now) const {
  QueueSnapshot snapshot;
  snapshot.now = now;
  snapshot.pools = replay_.cluster.partitions;
  snapshot.limits_kill = replay_.limits_kill;
  std::vector<Submitted> submitted;
  for (std::uint32_t row = 0; row < replay_.trace.jobs.size(); ++row) {
    const Job& job = replay_.trace.jobs[row];
    if (job.submit > now) break;
    const JobOutcome& outcome = replay_.outcomes[row];
    Submitted& made = submitted.emplace_back();
    made.user = job.user;
    made.pool = pool_of_vc_[job.vc];
    made.gpus = job.gpus;
    made.submit = job.submit;
    if (!outcome.started || outcome.start > now) continue;
    made.ended = outcome.status == JobStatus::finished && outcome.end <= now;
    made.start = outcome.start;
    made.ran_s = static_cast<double>((made.ended ? job.duration : now - outcome.start).count());
  }
  const RunTimeModel model(std::move(submitted), now);
  snapshot.site = model.site();
  snapshot.past = this->past(now);
  for (const std::uint32_t row : rows_at(now)) {
    const Job& job = replay_.trace.jobs[row];
    const JobOutcome& outcome = replay_.outcomes[row];
    SnapshotJob& made = snapshot.jobs.emplace_back();
    made.id = job.id;
    made.user = job.user;
    made.pool = pool_of_vc_[job.vc];
    made.gpus = job.gpus;
    made.submit = job.submit;
    made.planned = FractionalSeconds(replay_.planned[row]);
    if (!replay_.limits.empty()) made.limit = replay_.limits[row];
    made.belief = model.belief(row);
    made.burst = model.burst(row);
    made.source = model.has_own(row) ? RunTimeSource::user : RunTimeSource::site;
    if (!outcome.started || outcome.start > now) continue;
    made.started = outcome.start;
    made.where = outcome.nodes;
  }
  return snapshot;
}

}  // namespace schedmate::eta
