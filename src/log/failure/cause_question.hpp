// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A language model as a CauseReader: the question, and what its reply says.

#include <schedmate/diagnosis.hpp>
#include <schedmate/llm.hpp>
#include <span>

#include "log/lines/clean.hpp"

namespace schedmate {

/// Lines far from the candidate are left out until the rest fits.
[[nodiscard]] ChatRequest cause_question(const OpenCause& cause, const CleanText& clean,
                                         std::size_t most_bytes);

/// Errors: bad_reply (no JSON object of the schema, a word that is none of its enumerations).
[[nodiscard]] Result<CauseClaim> read_cause(std::string_view reply);

/// The first of those that more than half agree with on class and component.
[[nodiscard]] std::optional<CauseClaim> agreed_cause(std::span<const CauseClaim> answers);

}  // namespace schedmate
