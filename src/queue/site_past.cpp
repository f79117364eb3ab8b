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
  std::vector<JobRecord> records;
  if (*history) {
    const JobFilter filter{
        .finished = true, .limit = std::numeric_limits<std::size_t>::max(), .brief = true};
    auto read = (*history)->store->each(filter, [&](JobRecord record) {
      if (record.outcome && record.outcome->start && record.gpus > 0 &&
          cluster->places.contains(record.vc) &&
          *record.outcome->start + record.outcome->duration <= past.now)
        records.push_back(std::move(record));
      return true;
    });
    if (!read) return tl::unexpected(read.error());
  }
  if (records.empty())
    return fail(ErrorCode::not_found,
                "eta calibration: the history has no run on GPUs of these partitions: `schedmate "
                "history import sacct:FILE` first");
  std::ranges::stable_sort(records, {}, &JobRecord::submit);
  Numbering users;
  for (const JobRecord& record : records) {
    Job& job = past.trace.jobs.emplace_back();
    job.id = kept_text(past.trace, record.id);
    job.user = users.of(record.user);
    job.vc = cluster->places.at(record.vc).pool;
    job.gpus = static_cast<std::int32_t>(record.gpus);
    job.submit = record.submit;
    job.duration = std::max(Seconds(1), record.outcome->duration);
    JobOutcome& outcome = past.outcomes.emplace_back();
    outcome.status = JobStatus::finished;
    outcome.started = true;
    outcome.start = *record.outcome->start;
    outcome.end = outcome.start + job.duration;
    past.limits.push_back(slurm::planned_run_time(*queue, record.time_limit, {&record.vc, 1}));
  }
  past.trace.users = users.names();
  return past;
}

}  // namespace schedmate::queue
