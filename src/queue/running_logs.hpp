// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How far the running jobs of a queue are, by the logs that Slurm names. Logs are foreign files:
/// each is opened with the caller's rights (where the caller is root, with those of the job's
/// user), within a budget over all of them.

#include <chrono>
#include <map>
#include <schedmate/progress.hpp>
#include <span>
#include <string>
#include <vector>

#include "eta/told_run_time.hpp"
#include "settings/session.hpp"
#include "slurm/queue.hpp"

namespace schedmate::queue {

/// What was written longer ago says nothing of a run as it is now.
constexpr Seconds oldest_log{3600};

/// Over all logs of one call. The jobs with most GPUs come first.
struct LogsBudget {
  std::size_t logs = 200;
  std::chrono::milliseconds time{2000};
  /// For one answer of a file system.
  std::chrono::milliseconds answer{500};
};

struct RunningLogs {
  /// By index into ClusterQueue::jobs.
  std::map<std::size_t, eta::ToldProgress> told;
  std::vector<std::string> notes;
};

/// Only logs that are on this machine and that were written since their job started, at most an
/// hour before the queue's instant and a minute after it: of a queue that was recorded long ago
/// they are other jobs', or tell what came later. A log that is not there, or not for the caller to
/// read, says nothing; what the budget left out is a note. Errors: those of request_files()
/// and of the operator's formats.
[[nodiscard]] Result<RunningLogs> read_running_logs(const settings::Session& session,
                                                    const slurm::ClusterQueue& queue,
                                                    const LogsBudget& budget = {});

/// The time of the run that the counters of a log may account for. A counter of steps is of the run
/// or of an epoch, which its figures do not say. Empty where nothing is known of what is left.
[[nodiscard]] std::vector<double> accounted_s(const Progress& progress);

/// Whether one of these times is that of the run so far, as those of an evaluation, of one epoch or
/// of another run in the same file are not: what such a log says is left can be believed.
[[nodiscard]] bool accounts_for(std::span<const double> accounted_s, double ran_s);

}  // namespace schedmate::queue
