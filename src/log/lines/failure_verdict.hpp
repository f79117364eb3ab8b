// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a row of a rule table says of a failure.

#include <schedmate/diagnosis.hpp>
#include <schedmate/result.hpp>
#include <string>

#include "log/lines/rule_rows.hpp"

namespace schedmate::lines {

struct FailureVerdict {
  std::string rule;
  FailureClass verdict = FailureClass::other;
  Component component = Component::none;
  std::string reason, advice;
  Recommendation recommendation = Recommendation::notify;
  double confidence = 0;
  bool open = false;     ///< the line says that the job ended, not why: a witness may know
  bool outside = false;  ///< somebody else ended the job: after a long silence it had hung
};

/// What a row says: class, component, reason (`says` or `reason`), recommendation, advice,
/// confidence, open, outside. Errors: invalid, with the row's place.
[[nodiscard]] Result<FailureVerdict> read_failure_verdict(const RuleRow& row);

}  // namespace schedmate::lines
