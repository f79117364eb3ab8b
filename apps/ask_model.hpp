// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "apps/models.hpp"
#include "log/ask/ask.hpp"

namespace schedmate {

/// What became of asking the models.
struct ModelAnswers {
  std::int64_t accepted = 0;
  std::int64_t dropped = 0;
  std::vector<std::string> notes;  ///< why one was dropped, or not given
};

/// Lets the first model answer from the lines that were found, in place of the answer without it.
/// An answer counts when the lines it cites were shown and hold every number it names; else the
/// answer stays as it was.
[[nodiscard]] ModelAnswers answer_by_model(std::vector<LogAnswer>& answers, const LogIndex& index,
                                           const Models& models);

}  // namespace schedmate
