// SPDX-License-Identifier: Apache-2.0
#include "queue/site_past.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>

#include "queue/cluster_queue.hpp"
#include "service/advisor_state.hpp"
#include "slurm/snapshot.hpp"

namespace schedmate::queue {
namespace {

/// Of a job without one.
constexpr Seconds unlimited{365 * 86'400};

std::string_view kept_text(Trace& trace, const std::string& text) {
  auto copy = std::make_unique<char[]>(text.size() + 1);
  std::memcpy(copy.get(), text.data(), text.size());
  trace.text.push_back(std::move(copy));
  return {trace.text.back().get(), text.size()};
}

}  // namespace

Result<SitePast> past_of_site(const settings::Session& session, const EtaRequest& request) {
  const auto queue = read_cluster_queue(session, request.from);
  if (!queue) return tl::unexpected(queue.error());
  const auto cluster =
      slurm::snapshot_of(*queue, [](const slurm::QueuedJob&) { return slurm::JobBelief(); });
  if (!cluster) return tl::unexpected(cluster.error());
  const auto history = service::find_history(session);
  if (!history) return tl::unexpected(history.error());
  SitePast past;
  past.now = queue->now;
  past.policy = slurm::site_policy(*queue);
  past.cluster.partitions = cluster->snapshot.pools;
  for (const PartitionSpec& pool : past.cluster.partitions) past.trace.vcs.push_back(pool.name);
  std::vector<JobRecord> records;
  if (*history) {
    if ((*history)->role != Role::cluster_operator)
      return fail(ErrorCode::refused,
                  fmt::format("eta: {} belongs to another user; only its owner sees the run times "
                              "of all users (--state-dir DIR)",
                              session.state_dir()));
    JobFilter filter;
    filter.finished = true;
    filter.limit = std::numeric_limits<std::size_t>::max();
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
  std::map<std::string, std::uint32_t> users;
  for (const JobRecord& record : records) {
    const auto [user, fresh] =
        users.try_emplace(record.user, static_cast<std::uint32_t>(past.trace.users.size()));
    if (fresh) past.trace.users.push_back(record.user);
    Job& job = past.trace.jobs.emplace_back();
    job.id = kept_text(past.trace, record.id);
    job.user = user->second;
    job.vc = cluster->places.at(record.vc).pool;
    job.gpus = static_cast<std::int32_t>(record.gpus);
    job.submit = record.submit;
    job.duration = std::max(Seconds(1), record.outcome->duration);
    JobOutcome& outcome = past.outcomes.emplace_back();
    outcome.status = JobStatus::finished;
    outcome.started = true;
    outcome.start = *record.outcome->start;
    outcome.end = outcome.start + job.duration;
    past.limits.push_back(record.time_limit.value_or(unlimited));
  }
  return past;
}

}  // namespace schedmate::queue
