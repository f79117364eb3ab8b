// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the advisor says of a submitted job (paper 3.1, Scheduling Advisor), and the seam of its
/// estimates. The advisor looks for the same job of the same user, else for similar jobs, else it
/// takes the user's latest ones, and estimates from those that it finds (docs/formats/advice.md).
///
/// Values. Durations are run times on the job's GPUs, in seconds; utilisation is in per cent
/// and memory in MiB, both per GPU. An absent figure is one that nobody measured.

#include <cstdint>
#include <optional>
#include <schedmate/facts.hpp>
#include <schedmate/job.hpp>
#include <schedmate/paper.hpp>
#include <schedmate/result.hpp>
#include <schedmate/run_answer.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate {

/// A past job that has ended, seen from the job at hand.
struct PastRun {
  std::string id, user;
  SimTime submit;
  EndState state = EndState::unknown;
  Seconds duration{0};
  /// How alike it is, 0 to 1.
  double score = 1;
  /// Its duration times this is that of the job at hand (length, GPUs, batch).
  double scale = 1;
  /// In its user, whose jobs may often outlast their estimates; 0 to 1.
  double trust = 1;
  std::optional<double> gpu_util_pct, gpu_memory_mib;
};

/// How a past advice came out: log(actual / p50).
struct Residual {
  double log_ratio = 0;
  AdviceSource source = AdviceSource::none;
  bool same_user = false;
};

/// Spans are valid during the call only.
struct EstimateInput {
  /// Of the matches.
  AdviceSource source = AdviceSource::none;
  /// Best first; empty when `source` is none or user_history.
  std::span<const PastRun> matches;
  /// The user's latest jobs, newest first.
  std::span<const PastRun> own;
  /// Newest first. They set the width of the interval.
  std::span<const Residual> residuals;
  /// No estimate is above it.
  std::optional<Seconds> limit;
  SimTime now;
  /// So many of the matches the estimate `paper` averages.
  std::size_t averaged = paper::similar_jobs;
  /// Newest first; for answers alone.
  std::span<const LengthMiss> misses{};
  LimitPolicy limits{};
};

/// How long the job holds its GPUs, however it ends: what a scheduler plans with.
struct Estimate {
  /// none: no figure below means anything.
  AdviceSource source = AdviceSource::none;
  FractionalSeconds mean{0}, p10{0}, p50{0}, p90{0};
  /// Chance that the job fails or is cancelled, 0 to 1.
  double early_end = 0;
  std::optional<double> gpu_util_pct, gpu_memory_mib;
  /// Past jobs that it is based on.
  std::size_t runs = 0;
  /// What was left out or limited, for people.
  std::vector<std::string> notes;
};

/// One row of src/advisor/estimates.def. Both are pure functions: nothing but their input counts,
/// and threads may call them at once.
struct EstimateRow {
  std::string_view name;
  std::string_view summary;
  Estimate (*make)(const EstimateInput& input);
  RunAnswer (*answer)(const EstimateInput& input);
};
[[nodiscard]] std::span<const EstimateRow> estimate_rows();

/// Errors: not_found with the nearest name.
[[nodiscard]] Result<const EstimateRow*> find_estimate(std::string_view name);

/// A job as it is submitted.
struct Submission {
  JobSource job;
  /// "": the job is not remembered.
  std::string id;
  /// A name of the history; "" = nobody's, so there is no user history to go by.
  std::string user;
  std::string branch, vc;
  std::optional<Seconds> time_limit;
  SimTime submit;
  LimitPolicy limits{};
};

/// An earlier job that the advice is based on.
struct SimilarJob {
  /// Of other users' jobs "" unless the caller is an operator (caller.hpp).
  std::string id;
  double score = 0;
  /// In words: which relation, which fields agree.
  std::string why;
  Seconds duration{0};
  EndState state = EndState::unknown;
};

/// A fact that is not what it was at the user's last run of this entry.
struct FactChange {
  std::string field, before, now;
  bool operator==(const FactChange&) const = default;
};

/// How the nearest earlier submission failed, by its log.
struct EarlierFailure {
  std::string job_id, verdict, reason, fingerprint;
  /// Jobs of the history with this failure, that one included.
  std::size_t seen = 1;
};

struct Advice {
  Estimate estimate;
  RunAnswer answer;
  /// What would make an answer better that is not known, for people.
  std::vector<std::string> would_help;
  /// The row of estimates.def that made it.
  std::string estimator;
  /// Why the job counts as a resubmission, or why not.
  std::string rule;
  /// Best first; empty when the history has nothing alike.
  std::vector<SimilarJob> similar;
  /// The score from which a job counts as similar.
  double similar_threshold = 0;
  Facts facts;
  /// The facts are those of an earlier version with the same files: nothing was read again.
  bool facts_remembered = false;
  /// The user's last run of this entry, "" = none; and what has changed since.
  std::string previous;
  std::vector<FactChange> changes;
  std::optional<EarlierFailure> earlier_failure;
  /// What could not be done, for people. An advice without a model or an embedder is still one.
  std::vector<std::string> notes;
};

/// What the advice is based on.
[[nodiscard]] AdviceSource source_of(const Advice& advice);

/// schedmate.advice.v1.
[[nodiscard]] std::string advice_json(const Advice& advice);

}  // namespace schedmate
