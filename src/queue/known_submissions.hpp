// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Who submitted what, by the history and by the queue as it is: what a forecast knows of run times
/// and of submissions to come. Nothing of the history that is later than the queue counts.

#include <map>
#include <optional>
#include <schedmate/job_record.hpp>
#include <schedmate/run_time.hpp>
#include <string>
#include <vector>

#include "base/numbering.hpp"
#include "eta/run_time_model.hpp"
#include "settings/session.hpp"
#include "slurm/snapshot.hpp"

namespace schedmate::queue {

class KnownSubmissions {
 public:
  /// Remembers how the job `wanted` of the history ended. Without a history it knows the queue
  /// alone. The queue outlives it. Errors: refused (another user's history); those of the store.
  static Result<KnownSubmissions> read(const settings::Session& session,
                                       const slurm::ClusterQueue& queue, const std::string& wanted);

  /// Of the job of this place in ClusterQueue::jobs: from the advice that was recorded under its
  /// id, else from runs of its user and of the site.
  [[nodiscard]] slurm::JobBelief belief(std::size_t queued) const;

  /// Gives `made` its past and its site: the submissions of the last 28 days to its pools. Without
  /// any in the history nothing is taken to come. What that leaves open is a note.
  void complete(slurm::SnapshotOfQueue& made) const;

  /// Of the history.
  [[nodiscard]] std::int64_t runs() const { return runs_; }
  /// "" = no job of the history that had ended.
  [[nodiscard]] const std::string& end_of_wanted() const { return end_of_wanted_; }

 private:
  struct Row {
    eta::Submitted job;  ///< its pool is the number of its partition
    std::optional<Seconds> limit;
    std::optional<std::size_t> queued;
  };
  explicit KnownSubmissions(const slurm::ClusterQueue& queue) : queue_(&queue) {}
  Result<void> read_history(const settings::Session& session, const std::string& wanted);
  void add(const JobRecord& record);
  void add_queue();
  void settle();
  [[nodiscard]] std::vector<double> used_by_users(const slurm::Ranks& ranks) const;

  const slurm::ClusterQueue* queue_;
  std::vector<Row> rows_;  // in order of submission
  Numbering users_, partitions_;
  std::optional<eta::RunTimeModel> model_;
  std::vector<std::size_t> stands_;  // of each job of the queue, in rows_
  std::map<std::size_t, RunTimeDistribution> advised_;
  std::int64_t runs_ = 0;
  std::string end_of_wanted_;
};

}  // namespace schedmate::queue
