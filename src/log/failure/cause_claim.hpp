// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Whether the cited line confirms what somebody says of a failure (rules/claims.toml).

#include <memory>
#include <schedmate/diagnosis.hpp>

#include "log/failure/classify.hpp"
#include "log/failure/raised_in.hpp"

namespace schedmate::failure {

struct CitedLine {
  std::string_view text;  ///< "": it was not shown
  std::string_view root;  ///< the locator's line, "": it found none
  LineVerdict verdict;    ///< of the classifier
  RaisedIn raised = RaisedIn::nowhere;
};

class ClaimWords {
 public:
  /// `folder`: an operator's rules, "" = none. Errors: as rule_rows, invalid for a row that cannot
  /// be.
  static Result<ClaimWords> load(const std::string& folder);
  ClaimWords(ClaimWords&&) noexcept;
  ClaimWords& operator=(ClaimWords&&) noexcept;
  ~ClaimWords();

  /// "" when the line confirms the claim, else what is wrong with it.
  [[nodiscard]] std::string fault_of(const CauseClaim& claim, const CitedLine& line) const;

 private:
  struct Rows;
  explicit ClaimWords(std::unique_ptr<Rows> rows);
  std::unique_ptr<Rows> rows_;
};

}  // namespace schedmate::failure
