// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The class of a failure by the rules of rules/failures.toml and rules/xid.toml.

#include <memory>
#include <optional>
#include <schedmate/diagnosis.hpp>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>

#include "log/blame.hpp"
#include "log/rule_rows.hpp"

namespace schedmate {

/// What a rule looks at.
struct FailureCase {
  std::string_view line;     ///< that names the cause
  std::string_view context;  ///< its traceback and the failure lines around it
  RaisedIn raised = RaisedIn::nowhere;
};

struct FailureVerdict {
  std::string rule;
  FailureClass verdict = FailureClass::other;
  Component component = Component::none;
  std::string reason, advice;
  Recommendation recommendation = Recommendation::notify;
  double confidence = 0;
  bool open = false;  ///< the line says that the job ended, not why: a witness may know
};

class FailureRules {
 public:
  /// `folder`: an operator's rules, "" = none. Errors: as rule_rows, invalid for a row that cannot
  /// be.
  static Result<FailureRules> load(const std::string& folder);
  FailureRules(FailureRules&&) noexcept;
  FailureRules& operator=(FailureRules&&) noexcept;
  ~FailureRules();

  /// The first row that fits; nothing when none does.
  [[nodiscard]] std::optional<FailureVerdict> judge(const FailureCase& what) const;
  /// The row of an Xid; nothing for a code that the table does not have.
  [[nodiscard]] std::optional<FailureVerdict> xid(int code) const;

 private:
  struct Rows;
  explicit FailureRules(std::unique_ptr<Rows> rows);
  std::unique_ptr<Rows> rows_;
};

/// What a row says: class, component, reason (`says` or `reason`), recommendation, advice,
/// confidence, open. Errors: invalid, with the row's place.
[[nodiscard]] Result<FailureVerdict> read_failure_verdict(const RuleRow& row);

/// The code in "NVRM: Xid (PCI:0000:9b:00): 79, ...", or the one that it follows.
[[nodiscard]] std::optional<int> xid_in(std::string_view line);

}  // namespace schedmate
