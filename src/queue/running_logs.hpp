// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How far the running jobs of a queue are, by the logs that Slurm names. Logs are foreign files:
/// each is opened with the caller's rights (where the caller is root, with those of the job's
/// user), within a budget over all of them.

#include <chrono>
#include <map>
#include <schedmate/progress.hpp>
#include <string>
#include <vector>

#include "eta/told_run_time.hpp"
#include "settings/session.hpp"
#include "slurm/queue.hpp"

namespace schedmate::queue {

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

/// The time left that a log tells, where its counters account for the run so far, as those of an
/// evaluation, of one epoch or of another run in the same file do not.
[[nodiscard]] std::optional<double> believed_left(const Progress& progress, double ran_s);

}  // namespace schedmate::queue
