// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the advisor says of a submitted job (paper 3.1, Scheduling Advisor), and the seam of its
/// estimates.

#include <cstdint>
#include <optional>
#include <schedmate/facts.hpp>
#include <schedmate/job.hpp>
#include <schedmate/paper.hpp>
#include <schedmate/result.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate {

/// What an estimate stands on, best first.
enum class AdviceSource : std::uint8_t { resubmission, similar, user_history, none };
[[nodiscard]] std::string_view name_of(AdviceSource source);

/// A past job that has ended, seen from the job at hand.
struct PastRun {
  std::string id, user;
  SimTime submit;
  EndState state = EndState::unknown;
  Seconds duration{0};
  double score = 1;  ///< how alike it is, 0 to 1
  double scale = 1;  ///< its duration times this is that of the job at hand
  double trust = 1;  ///< of its user, whose jobs may often outlast their estimates
  std::optional<double> gpu_util_pct, gpu_memory_mib;
};

/// How a past advice came out: log(actual / p50).
struct Residual {
  double log_ratio = 0;
  AdviceSource source = AdviceSource::none;
  bool same_user = false;
};

struct EstimateInput {
  AdviceSource source = AdviceSource::none;  ///< of the matches
  std::span<const PastRun> matches;          ///< best first
  std::span<const PastRun> own;              ///< the user's latest jobs, newest first
  std::span<const Residual> residuals;       ///< newest first
  std::optional<Seconds> limit;              ///< no estimate is above it
  SimTime now;
  std::size_t averaged = paper::similar_jobs;  ///< of the matches, by the estimate `paper`
};

struct Estimate {
  AdviceSource source = AdviceSource::none;  ///< none: no figure below means anything
  FractionalSeconds mean{0}, p10{0}, p50{0}, p90{0};
  double early_end = 0;  ///< chance that the job fails or is cancelled
  std::optional<double> gpu_util_pct, gpu_memory_mib;
  std::size_t runs = 0;            ///< past jobs that it stands on
  std::vector<std::string> notes;  ///< what was left out or limited, for people
};

/// One row of src/advisor/estimates.def. A pure function: nothing but its input counts.
struct EstimateRow {
  std::string_view name;
  std::string_view summary;
  Estimate (*make)(const EstimateInput& input);
};
[[nodiscard]] std::span<const EstimateRow> estimate_rows();

/// Errors: not_found with the nearest name.
[[nodiscard]] Result<const EstimateRow*> find_estimate(std::string_view name);

/// A job as it is submitted. `user` is a name for the history.
struct Submission {
  JobSource job;
  std::string id;  ///< "" = not to be remembered
  std::string user, branch, vc;
  std::optional<Seconds> time_limit;
  SimTime submit;
};

/// An earlier job that the advice stands on. Of other users' jobs `id` is empty unless the caller
/// is an operator.
struct SimilarJob {
  std::string id;
  double score = 0;
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
  std::size_t seen = 1;  ///< jobs of the history with this failure, that one included
};

struct Advice {
  Estimate estimate;
  std::string estimator;            ///< row of estimates.def
  std::string rule;                 ///< why it counts as a resubmission, or not
  std::vector<SimilarJob> similar;  ///< best first
  double similar_threshold = 0;
  Facts facts;
  bool facts_remembered = false;    ///< from an earlier version: nothing was read again
  std::string previous;             ///< the user's last run of this entry, "" = none
  std::vector<FactChange> changes;  ///< against `previous`
  std::optional<EarlierFailure> earlier_failure;
  std::vector<std::string> notes;  ///< what could not be done, for people
};

/// schedmate.advice.v1.
[[nodiscard]] std::string advice_json(const Advice& advice);

}  // namespace schedmate
