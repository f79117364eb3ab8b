// SPDX-License-Identifier: Apache-2.0
#pragma once

/// From a submission to its advice (paper 3.1, Figure 5): admission, facts, similar jobs, estimate.
/// What is missing on the way is named in the advice and never stops it.

#include <functional>
#include <schedmate/advice.hpp>
#include <schedmate/caller.hpp>
#include <schedmate/search.hpp>

#include "advisor/flag_rules.hpp"
#include "advisor/similar.hpp"
#include "advisor/versions.hpp"

namespace schedmate::advisor {

/// Everything that the advisor works with; all of it outlives the call.
struct AdvisorParts {
  Store& store;
  TextIndex& index;
  const FlagRules& rules;
  const EstimateRow& estimate;
  SimilarityOptions similarity;
  std::function<Result<Facts>(const JobSource&)> read_facts;
  TreeAccess tree;
  Role role = Role::owner;  ///< of the submission's user: may see whose the similar jobs are
};

/// An advice, and what is to be remembered of the submission.
struct Advised {
  Advice advice;
  JobRecord record;
  Closure closure;
};

/// Errors: those of reading the facts when nothing is remembered of them, and those of the store.
[[nodiscard]] Result<Advised> advise(const Submission& submission, const AdvisorParts& parts);

/// Remembers the submission with its facts and advice. Errors: those of the store; conflict when
/// another user holds the id.
[[nodiscard]] Result<void> remember(const Advised& advised, const AdvisorParts& parts);

/// What admission and search compare of a submission with these facts.
[[nodiscard]] JobRecord comparable_record(const Submission& submission, const Facts& facts,
                                          const FlagRules& rules);
/// The whole record, as the store keeps it.
[[nodiscard]] JobRecord make_record(const Submission& submission, const Facts& facts,
                                    const FlagRules& rules);

}  // namespace schedmate::advisor
