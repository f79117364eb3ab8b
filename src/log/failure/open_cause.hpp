// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A failure whose cause the rules leave open, shown to a CauseReader.

#include <optional>
#include <schedmate/diagnosis.hpp>
#include <string>

#include "log/failure/classify.hpp"
#include "log/failure/raised_in.hpp"
#include "log/lines/failure_verdict.hpp"

namespace schedmate::failure {

struct OpenFailure {
  const DiagnoseInput& input;
  LineKinds& kinds;
  std::string path;
  std::optional<std::uint64_t> root;  ///< nothing: no line was found
  RaisedIn raised = RaisedIn::nowhere;
};

struct ModelCause {
  lines::FailureVerdict verdict;
  std::uint64_t line = 0;  ///< that was cited
  std::string text;
};

/// Asks the reader of `input` with the 200 lines around the root, or with the last ones where there
/// is none. Nothing where it has no answer, or one that its line does not confirm: why is then in
/// `dropped`. Errors: those of reading the log and the rules.
[[nodiscard]] Result<std::optional<ModelCause>> read_open_cause(const OpenFailure& failure,
                                                                std::vector<std::string>& dropped);

}  // namespace schedmate::failure
