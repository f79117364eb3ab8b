// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One job, as its owner asks for it: what it is, how far, how fast, when it ends, what it used,
/// why it died and what to do (docs/formats/job-screen.md). Everything that knows of the job is
/// asked: the history, the accounting and the controller of Slurm where their programs are
/// installed, its log. None of them has to be there; each says in `sources` what it gave.

#include <schedmate/diagnosis.hpp>
#include <schedmate/progress.hpp>
#include <schedmate/run_answer.hpp>

#include "base/document.hpp"
#include "service/accounted_jobs.hpp"
#include "service/job_use.hpp"

namespace schedmate::service {

/// Who was asked, and what came of it.
struct JobSourceState {
  std::string name;   ///< history, sacct, scontrol, log
  bool gave = false;  ///< something of this job
  std::string says;   ///< where it is; else why there is nothing
};

/// The user's earlier runs of this job (the same command but for flags that change neither work nor
/// time), of which the history knows the end.
struct EarlierRuns {
  std::size_t runs = 0, completed = 0;
  /// Of those that completed.
  std::optional<Seconds> shortest, median, longest;
  /// The median of those whose log was read.
  std::optional<double> seconds_per_step;
};

struct ExpectedEnd {
  SimTime at;
  /// The interval that the advice gives, where it stands on earlier runs.
  std::optional<SimTime> low, high;
  std::string by;           ///< "its log", "earlier runs"
  bool over_limit = false;  ///< the time limit ends it before
};

/// What to ask for next time. Nothing is suggested that no measurement supports.
struct SizeAdvice {
  std::string what;  ///< "memory", "cpus", "gpus"
  std::string flag;  ///< "--mem=48G", "" = there is no figure to give
  std::string why;
};

struct JobView {
  slurm::ScheduledJob job;
  /// "pending", "running", an end_word(); "" = nobody knows it, only its log is there.
  std::string state;
  SimTime now;
  std::optional<SimTime> started, ended;
  std::optional<Seconds> ran;
  std::string log;
  std::optional<SimTime> log_written;
  std::optional<Progress> progress;
  std::optional<Diagnosis> diagnosis;
  EarlierRuns earlier;
  std::optional<ExpectedEnd> expected;
  JobUse use;
  std::vector<SizeAdvice> sizes;
  std::optional<TimeLimit> time_limit;  ///< to ask for next time
  std::vector<JobSourceState> sources;
  std::vector<std::string> notes;

  [[nodiscard]] bool is_running() const { return state == "running"; }
};

/// `subject` is a job id, a log or a job's directory. Errors: not_found (nothing knows such a job;
/// the sentence says who was asked), those of the store.
[[nodiscard]] Result<JobView> look_at_job(const settings::Session& session,
                                          const std::string& subject);

/// What to do about an end that the scheduler's word alone explains (time limit, node, memory,
/// preemption), for a job whose log says nothing; "" = nothing.
[[nodiscard]] std::string what_to_do(const JobView& view);

/// schedmate.job.v1.
[[nodiscard]] Document job_document(const JobView& view);

}  // namespace schedmate::service
