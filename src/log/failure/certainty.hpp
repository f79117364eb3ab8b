// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How likely a verdict and the line that it names are right: what speaks for them and against.
/// The weights are rules/diagnosis_confidence.toml, fitted by scripts/log_confidence.py on what
/// bench/log_study.cpp prints.

#include <schedmate/diagnosis.hpp>

#include "base/confidence.hpp"
#include "log/failure/failure_rules.hpp"
#include "log/failure/locate.hpp"

namespace schedmate::failure {

/// Names of the answers in the table.
inline constexpr const char* class_answer = "class";
inline constexpr const char* line_answer = "root_line";
inline constexpr const char* healthy_answer = "no failure";

struct VerdictGrounds {
  const Located& located;
  const FailureRules& rules;
  const lines::FailureVerdict& verdict;
  RaisedIn raised = RaisedIn::nowhere;
  std::size_t frames = 0;
};
/// Of the class of a log with a root, and of the line that is named.
[[nodiscard]] Features features_of(const VerdictGrounds& grounds);
[[nodiscard]] Features line_features(const Features& of_class);
/// Of one in which no failure was found.
[[nodiscard]] Features features_without_failure(const Located& located);

/// The built-in table.
[[nodiscard]] const Confidence& diagnosis_confidence();

/// diagnose() with a table of one's own.
[[nodiscard]] Result<Diagnosis> diagnose_with(const DiagnoseInput& given,
                                              const Confidence& confidence);

}  // namespace schedmate::failure
