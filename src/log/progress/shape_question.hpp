// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A language model as a ShapeReader: the question, and what its reply says.

#include <schedmate/line_shape.hpp>
#include <schedmate/question.hpp>
#include <span>

#include "log/lines/clean.hpp"

namespace schedmate::progress {

/// Its answer is checked where the lines are (UnknownShapes).
[[nodiscard]] Question<LineMeaning> shape_question(const LineShape& shape,
                                                   const lines::CleanText& clean);

/// What more than half of the answers say of each place; several samples or models.
[[nodiscard]] LineMeaning agreed_meaning(std::span<const LineMeaning> answers);

/// Changes with the prompt: what was remembered under another one is asked again.
[[nodiscard]] std::string shape_prompt_version();

}  // namespace schedmate::progress
