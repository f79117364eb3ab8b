// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The class of a failure by the rules of rules/failures.toml and rules/xid.toml.

#include <memory>
#include <optional>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>

#include "log/failure/raised_in.hpp"
#include "log/witness/xid_table.hpp"

namespace schedmate::failure {

/// What a rule looks at.
struct FailureCase {
  std::string_view line;     ///< that names the cause
  std::string_view context;  ///< its traceback and the failure lines around it
  RaisedIn raised = RaisedIn::nowhere;
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
  [[nodiscard]] std::optional<lines::FailureVerdict> judge(const FailureCase& what) const;
  [[nodiscard]] const witness::XidTable& xids() const;

 private:
  struct Rows;
  explicit FailureRules(std::unique_ptr<Rows> rows);
  std::unique_ptr<Rows> rows_;
};

}  // namespace schedmate::failure
