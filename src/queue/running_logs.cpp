// SPDX-License-Identifier: Apache-2.0
#include "queue/running_logs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/foreign_file.hpp"
#include "log/progress/track_with.hpp"
#include "service/file_access.hpp"
#include "slurm/job_log.hpp"

namespace schedmate::queue {
namespace {

constexpr Seconds most_after{60};

/// Where Slurm says that it is; "" = nowhere that a log can be.
std::string log_path_of(const slurm::QueuedJob& job) {
  if (job.log.empty()) return {};
  slurm::ScheduledJob known;
  known.record.id = job.id;
  known.record.user = job.user;
  known.record.name = job.name;
  known.record.root = job.workdir;
  if (!job.held.empty()) known.attempts.emplace_back().nodes = job.held.front().name;
  std::string path = slurm::log_by_pattern(job.log, known);
  return held_number(path) ? std::string() : path;
}

struct LogOfRun {
  std::size_t queued = 0;
  std::string path;
};

std::vector<LogOfRun> logs_of(const slurm::ClusterQueue& queue) {
  std::vector<LogOfRun> logs;
  for (std::size_t i = 0; i < queue.jobs.size(); ++i) {
    const slurm::QueuedJob& job = queue.jobs[i];
    if (!job.runs() || job.gpus == 0) continue;
    if (std::string path = log_path_of(job); !path.empty()) logs.push_back({i, std::move(path)});
  }
  std::ranges::stable_sort(logs, std::ranges::greater{},
                           [&](const LogOfRun& log) { return queue.jobs[log.queued].gpus; });
  return logs;
}

class LogReading {
 public:
  LogReading(progress::LogWords words, const slurm::ClusterQueue& queue, FileAccess access)
      : words_(std::move(words)), queue_(&queue), access_(std::move(access)) {}

  void read(const LogOfRun& log, std::chrono::milliseconds answer, RunningLogs& made) {
    const slurm::QueuedJob& job = queue_->jobs[log.queued];
    FileAccess access = service::as_owner(access_, job.user);
    access.budget.answer = access.budget.reading = answer;
    const auto written = written_when({log.path, access});
    if (!written) return;
    if (*written < *job.start || *written < queue_->now - oldest_log ||
        *written > queue_->now + most_after) {
      ++other_times_;
      return;
    }
    const auto found = progress::track_with(words_, {log.path, access});
    if (!found) return count(found.error());
    const double ran_s = FractionalSeconds(std::min(*written, queue_->now) - *job.start).count();
    if (accounts_for(accounted_s(*found), ran_s))
      made.told[log.queued] = {.ran_s = ran_s, .left_s = *found->remaining_s};
  }

  [[nodiscard]] std::size_t unanswered() const { return unanswered_; }
  [[nodiscard]] std::size_t other_times() const { return other_times_; }

 private:
  std::optional<SimTime> written_when(const ForeignPath& path) {
    auto file = ForeignFile::open(path);
    if (!file) return count(file.error()), std::nullopt;
    const auto status = file->status();
    if (!status) return count(status.error()), std::nullopt;
    if (file->is_pipe()) return std::nullopt;
    return at(status->st_mtime);
  }

  void count(const Error& error) { unanswered_ += error.code == ErrorCode::timeout ? 1 : 0; }

  progress::LogWords words_;
  const slurm::ClusterQueue* queue_;
  FileAccess access_;
  std::size_t unanswered_ = 0, other_times_ = 0;
};

}  // namespace

std::vector<double> accounted_s(const Progress& progress) {
  std::vector<double> made;
  if (!progress.remaining_s) return made;
  const double left_s = *progress.remaining_s;
  const bool has_epochs = progress.epoch && progress.total_epochs && *progress.total_epochs > 0;
  const bool has_steps = progress.step && progress.total_steps && *progress.total_steps > 0;
  if (progress.step && progress.step_time_s) made.push_back(*progress.step * *progress.step_time_s);
  if (progress.remaining_by == "by steps" && progress.step_time_s && has_epochs && has_steps)
    made.push_back(*progress.total_epochs * *progress.total_steps * *progress.step_time_s - left_s);
  if (!made.empty() || (!has_epochs && !has_steps)) return made;
  const double done = has_epochs ? *progress.epoch / *progress.total_epochs
                                 : *progress.step / *progress.total_steps;
  if (done < 1) made.push_back(left_s * done / (1 - done));
  return made;
}

bool accounts_for(std::span<const double> accounted_s, double ran_s) {
  constexpr double least = 0.5, most = 1.25;
  return std::ranges::any_of(accounted_s, [&](double accounted) {
    return accounted >= least * ran_s && accounted <= most * ran_s;
  });
}

Result<RunningLogs> read_running_logs(const settings::Session& session,
                                      const slurm::ClusterQueue& queue, const LogsBudget& budget) {
  const auto files = service::request_files(session);
  if (!files) return tl::unexpected(files.error());
  RunningLogs made;
  const std::vector<LogOfRun> logs = logs_of(queue);
  if (logs.empty()) return made;
  auto words = progress::LogWords::load(session.settings.text("rules"));
  if (!words) return tl::unexpected(words.error());
  LogReading reading(*std::move(words), queue, files->access);
  const auto began = session.clock.now();
  std::size_t read = 0;
  for (; read < std::min(logs.size(), budget.logs); ++read) {
    const auto left = budget.time - std::chrono::duration_cast<std::chrono::milliseconds>(
                                        session.clock.now() - began);
    if (left.count() <= 0) break;
    reading.read(logs[read], std::min(budget.answer, left), made);
  }
  if (const std::size_t unread = logs.size() - read + reading.unanswered(); unread > 0)
    made.notes.push_back(fmt::format(
        "{} of {} logs of running jobs were not read: the budget is {} logs and {} s, and {} ms "
        "for an answer of a file system",
        unread, logs.size(), budget.logs, std::chrono::duration<double>(budget.time).count(),
        budget.answer.count()));
  if (reading.other_times() > 0)
    made.notes.push_back(
        fmt::format("{} logs of running jobs were written before their jobs started, long before "
                    "this queue or after it, and say nothing of it",
                    reading.other_times()));
  made.notes.insert(made.notes.end(), files->left_out->begin(), files->left_out->end());
  return made;
}

}  // namespace schedmate::queue
