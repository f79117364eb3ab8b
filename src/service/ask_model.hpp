// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "llm/ask.hpp"
#include "log/ask/ask.hpp"
#include "service/models.hpp"

namespace schedmate::service {

/// Lets the first model answer from the lines that were found, in place of the answer without it.
/// An answer counts when the lines it cites were shown and hold every number, name and command in
/// it, and every machine is one of `nodes`, the job's allocation; else the answer stays as it was.
[[nodiscard]] llm::QuestionTally answer_by_model(std::vector<ask::LogAnswer>& answers,
                                                 const ask::LogIndex& index,
                                                 std::span<const std::string> nodes,
                                                 const Models& models);

}  // namespace schedmate::service
