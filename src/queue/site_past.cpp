// SPDX-License-Identifier: Apache-2.0
#include "queue/site_past.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/numbering.hpp"
#include "queue/cluster_queue.hpp"
#include "queue/eta_replay.hpp"
#include "service/advisor_state.hpp"
#include "slurm/snapshot.hpp"

namespace schedmate::queue {
namespace {

std::string_view kept_text(Trace& trace, const std::string& text) {
  auto copy = std::make_unique<char[]>(text.size() + 1);
  std::memcpy(copy.get(), text.data(), text.size());
  trace.text.push_back(std::move(copy));
  return {trace.text.back().get(), text.size()};
}

struct Run {
  std::string id, user;
  std::uint32_t pool;
  std::int64_t gpus;
  SimTime submit, start;
  std::optional<Seconds> duration;  ///< nothing: it runs still
  Seconds limit;
};

/// What runs now held its GPUs before, too.
void add_running(const slurm::ClusterQueue& queue, const slurm::SnapshotOfQueue& cluster,
                 std::vector<Run>& runs) {
  for (std::size_t i = 0; i < cluster.queued.size(); ++i) {
    const slurm::QueuedJob& job = queue.jobs[cluster.queued[i]];
    const SnapshotJob& known = cluster.snapshot.jobs[i];
    if (known.started)
      runs.push_back({job.id,
                      job.user,
                      known.pool,
                      known.gpus,
                      job.submit,
                      *known.started,
                      {},
                      slurm::planned_run_time(queue, job.limit, job.partitions)});
  }
}

void add(const std::vector<Run>& runs, SitePast& past) {
  Numbering users;
  for (const Run& run : runs) {
    Job& job = past.trace.jobs.emplace_back();
    job.id = kept_text(past.trace, run.id);
    job.user = users.of(run.user);
    job.vc = run.pool;
    job.gpus = static_cast<std::int32_t>(run.gpus);
    job.submit = run.submit;
    JobOutcome& outcome = past.outcomes.emplace_back();
    outcome.started = true;
    outcome.start = run.start;
    past.limits.push_back(run.limit);
    if (!run.duration) continue;
    job.duration = std::max(Seconds(1), *run.duration);
    outcome.status = JobStatus::finished;
    outcome.end = outcome.start + job.duration;
  }
  past.trace.users = users.names();
}

}  // namespace

Result<SitePast> past_of_site(const settings::Session& session, const EtaRequest& request) {
  if (auto checked = check_of_cluster(request); !checked) return tl::unexpected(checked.error());
  const auto queue = read_cluster_queue(session, request.from);
  if (!queue) return tl::unexpected(queue.error());
  const auto cluster =
      slurm::snapshot_of(*queue, [](const slurm::QueuedJob&) { return slurm::JobBelief(); });
  if (!cluster) return tl::unexpected(cluster.error());
  const auto history = service::find_history_of_all(session);
  if (!history) return tl::unexpected(history.error());
  SitePast past;
  past.now = queue->now;
  past.cluster_name = queue->cluster;
  past.policy = slurm::site_policy(*queue);
  past.cluster.partitions = cluster->snapshot.pools;
  // A partition of nodes with other numbers of GPUs has several pools of its name.
  for (PartitionSpec& pool : past.cluster.partitions) {
    pool.name = fmt::format("{}, pool {}", pool.name, past.trace.vcs.size() + 1);
    past.trace.vcs.push_back(pool.name);
  }
  std::vector<Run> runs;
  if (*history) {
    const JobFilter filter{
        .finished = true, .limit = std::numeric_limits<std::size_t>::max(), .brief = true};
    auto read = (*history)->store->each(filter, [&](const JobRecord& record) {
      if (record.outcome && record.outcome->start && record.gpus > 0 &&
          cluster->places.contains(record.vc) &&
          *record.outcome->start + record.outcome->duration <= past.now)
        runs.push_back({record.id, record.user, cluster->places.at(record.vc).pool, record.gpus,
                        record.submit, *record.outcome->start, record.outcome->duration,
                        slurm::planned_run_time(*queue, record.time_limit, {&record.vc, 1})});
      return true;
    });
    if (!read) return tl::unexpected(read.error());
  }
  if (runs.empty())
    return fail(ErrorCode::not_found,
                "eta calibration: the history has no run on GPUs of these partitions: `schedmate "
                "history import sacct:FILE` first");
  add_running(*queue, *cluster, runs);
  std::ranges::stable_sort(runs, {}, &Run::submit);
  add(runs, past);
  return past;
}

}  // namespace schedmate::queue
