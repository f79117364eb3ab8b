// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A language model as a ShapeReader: the question, and what its reply says.

#include <schedmate/llm.hpp>
#include <schedmate/progress.hpp>
#include <span>

#include "log/lines/clean.hpp"

namespace schedmate {

[[nodiscard]] ChatRequest shape_question(const LineShape& shape, const CleanText& clean);

/// Errors: bad_reply (no JSON object of the schema).
[[nodiscard]] Result<LineMeaning> read_meaning(std::string_view reply);

/// What more than half of the answers say of each place; several samples or models.
[[nodiscard]] LineMeaning agreed_meaning(std::span<const LineMeaning> answers);

/// Changes with the prompt: what was remembered under another one is asked again.
[[nodiscard]] std::string shape_prompt_version();

}  // namespace schedmate
