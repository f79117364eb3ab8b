// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A language model as a CauseReader: the question, and what its reply says.

#include <schedmate/diagnosis.hpp>
#include <schedmate/question.hpp>
#include <span>

#include "log/lines/clean.hpp"

namespace schedmate::failure {

/// Lines far from the candidate are left out until the rest fits. The claim is checked where the
/// log is (read_open_cause).
[[nodiscard]] Question<CauseClaim> cause_question(const OpenCause& cause,
                                                  const lines::CleanText& clean,
                                                  std::size_t most_bytes);

/// The first of those that more than half agree with on class and component.
[[nodiscard]] std::optional<CauseClaim> agreed_cause(std::span<const CauseClaim> answers);

}  // namespace schedmate::failure
