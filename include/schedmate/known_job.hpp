// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is known of a job: by everybody when it enters and when it has ended, by an oracle at any
/// time. A driver (simulator or live service) gives each job a number that it never uses again;
/// estimators remember the job by it. Plain values; texts and profiles they point to belong to the
/// driver and are valid during the call that passes them.

#include <cstdint>
#include <schedmate/job.hpp>
#include <schedmate/time.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate {

/// A job as it enters. How long it will run, and how it will end, is not in here.
struct KnownJob {
  /// In a replay the row of its trace.
  std::uint64_t number = 0;
  /// As users see it.
  std::string_view id{};
  /// The driver's numbers of the user and of the virtual cluster.
  std::uint32_t user = 0;
  std::uint32_t vc = 0;
  /// Total over all nodes, at least 1.
  std::int32_t gpus = 0;
  SimTime submit{};
  /// Its GPU use; null where nobody has measured it.
  const Profile* profile = nullptr;
};

/// A job that has ended.
struct FinishedJob {
  KnownJob job;
  SimTime end;
  /// Alone on its GPUs: waiting, preemptions and sharing are not in it.
  Seconds run_time{0};
  EndState state = EndState::unknown;
};

/// The job of a row as it enters, and once it has ended. Its GPU use is known from the start
/// wherever the trace has it.
[[nodiscard]] KnownJob known_job(const Trace& trace, std::size_t row);
[[nodiscard]] FinishedJob finished_job(const Trace& trace, std::size_t row, SimTime end);

/// What only a replay has: how its jobs will go on. Made from a trace, which outlives it; a live
/// cluster has none to make it from. Threads may share it.
class Truth {
 public:
  /// `templates`: by row, equal numbers for jobs that are alike; empty when nobody knows.
  explicit Truth(const Trace& trace, std::span<const std::uint32_t> templates = {})
      : trace_(&trace), templates_(templates) {}

  /// Of a job of the trace that this was made from; others must not ask.
  [[nodiscard]] FractionalSeconds run_time(const KnownJob& job) const {
    return trace_->jobs[job.number].duration;
  }
  /// A numeric column of the trace by its name, one value a row; null when it has no such column.
  [[nodiscard]] const std::vector<double>* column(std::string_view name) const;
  /// The names of all columns, joined by ", "; "" when there is none.
  [[nodiscard]] std::string columns() const;
  /// By row; empty when nobody knows which jobs are alike.
  [[nodiscard]] std::span<const std::uint32_t> templates() const { return templates_; }

 private:
  const Trace* trace_;
  std::span<const std::uint32_t> templates_;
};

}  // namespace schedmate
