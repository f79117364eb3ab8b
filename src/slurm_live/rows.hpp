// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What squeue and sinfo print as JSON, as the jobs and nodes of the seam.

#include <map>
#include <schedmate/connector.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "slurm/shown.hpp"

namespace schedmate::slurm_live {

/// A job, or a task of an array, with what a call on it must know besides.
struct Row {
  SeenJob seen;
  /// Slurm's own number, which sprio names: a task that waits has that of its array.
  std::string number;
  std::string of_job;               ///< of a part of a heterogeneous job: the number of the whole
  std::vector<std::string> wanted;  ///< nodes that it asked for by name
  std::string excluded;             ///< nodes that it must not have, as Slurm writes them
  std::string comment;              ///< of its owner
  bool is_batch = true, may_requeue = true;
  bool shows_order = false;
  std::int64_t priority = 0;  ///< 0: it is held, or none is told
  SimTime since;              ///< it has gained by waiting
};

/// What Slurm forgets of a job when it is requeued or has ended.
struct Kept {
  SimTime submitted;  ///< first; a requeue is a submission for Slurm
  std::int64_t restarts = 0, order = 0;
  std::vector<NodeGpus> nodes{};
};
using KeptJobs = std::map<std::string, Kept, std::less<>>;

/// At most so many waiting tasks of an array are shown; others when they start.
inline constexpr std::size_t most_tasks = 1000;

/// Of `squeue --json`, in order of submission; `kept` as of the reading before. Errors: unavailable
/// (squeue says what went wrong), invalid.
[[nodiscard]] Result<std::vector<Row>> read_rows(std::string_view squeue, const KeptJobs& kept,
                                                 SimTime now);
/// The same of records of jobs; a SiteFactor is the order of one that waits. Errors: invalid.
[[nodiscard]] Result<std::vector<Row>> rows_of(const std::vector<slurm::Shown>& jobs,
                                               const KeptJobs& kept, SimTime now);
/// Those that are parts of one job become it, with the number of the first part as its id.
void join_het_jobs(std::vector<Row>& rows);
/// What sprio is asked for: the site factor, the whole priority, nice, and its other parts.
inline constexpr const char* sprio_columns = "%i|%S|%Y|%N|%A|%B|%F|%J|%P|%Q|%T";
/// Adds the orders that sprio prints in these columns, or the first two: of those that wait and
/// could start.
[[nodiscard]] Result<void> add_orders(std::string_view sprio, std::vector<Row>& rows);
/// What Slurm makes of those that wait, once their orders are known.
[[nodiscard]] std::map<std::string, Rank, std::less<>> ranks_of(const std::vector<Row>& rows,
                                                                SimTime now);
/// What is to be known at the next reading.
[[nodiscard]] KeptJobs kept_of(const std::vector<Row>& rows);

/// Of `sinfo --json` of Slurm 22.05, or `scontrol show node --json`. Errors: as read_rows().
[[nodiscard]] Result<std::vector<SeenNode>> read_nodes(std::string_view document);

/// "schedmate:INSTANCE/ACTION"
[[nodiscard]] bool is_mark(std::string_view text);
[[nodiscard]] Result<std::vector<SeenNode>> nodes_of(const std::vector<slurm::Shown>& nodes);

/// A hold that was made with a mark has it in the first line of AdminComment; the rest is the note.
[[nodiscard]] std::string comment_of(std::string_view mark, std::string_view note);

}  // namespace schedmate::slurm_live
