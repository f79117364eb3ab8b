// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/check.hpp"
#include "slurm/snapshot.hpp"
#include "tests/fuzz/targets.hpp"

namespace schedmate::fuzz {
namespace {

void check_job(const slurm::QueuedJob& job, const slurm::ClusterQueue& queue) {
  SCHEDMATE_CHECK(job.runs() != job.waits(), "a job of the queue runs or waits");
  SCHEDMATE_CHECK(job.gpus >= 0 && job.nodes > 0 && job.tasks_of_array > 0, "requests are counts");
  SCHEDMATE_CHECK(job.submit <= queue.now, "nothing comes from the future");
  if (job.runs())
    SCHEDMATE_CHECK(job.start && *job.start <= queue.now && !job.held.empty(), "a run has begun");
  for (const slurm::HeldNode& held : job.held) SCHEDMATE_CHECK(held.gpus >= 0, "GPUs are a count");
}

void check_snapshot(const QueueSnapshot& snapshot) {
  for (const SnapshotJob& job : snapshot.jobs) {
    SCHEDMATE_CHECK(job.pool < snapshot.pools.size() && job.gpus > 0, "a job is of a pool");
    SCHEDMATE_CHECK(std::ranges::all_of(
                        job.limits, [&](std::uint32_t i) { return i < snapshot.limits.size(); }),
                    "a limit is one");
  }
}

}  // namespace

/// Text of scontrol, documents of JSON, or both.
void fuzz_slurm(std::string_view input) {
  const auto queue = slurm::read_queue(input);
  if (!queue) {
    SCHEDMATE_CHECK(!queue.error().message.empty(), "an error says something");
    return;
  }
  for (const slurm::QueuedJob& job : queue->jobs) check_job(job, *queue);
  for (const slurm::GroupLimit& limit : queue->limits)
    SCHEDMATE_CHECK(
        std::ranges::all_of(limit.members, [&](std::size_t i) { return i < queue->jobs.size(); }),
        "a limit is of jobs of the queue");
  const auto made = slurm::snapshot_of(*queue, [](const slurm::QueuedJob&) {
    return slurm::JobBelief{{nullptr, 600}, 0, RunTimeSource::site};
  });
  if (made) check_snapshot(made->snapshot);
}

}  // namespace schedmate::fuzz
