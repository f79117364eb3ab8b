// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What language models add to track and diagnose: they are asked for what the rules leave open,
/// and their answers are checked there (src/log). Whatever goes wrong is a note.

#include <memory>
#include <schedmate/diagnosis.hpp>
#include <schedmate/progress.hpp>
#include <string>
#include <vector>

#include "base/document.hpp"
#include "llm/ask.hpp"
#include "log/lines/clean.hpp"
#include "service/models.hpp"

namespace schedmate::service {

/// Reads unknown lines by the models; what it found out, good or bad, is remembered in the
/// history's cache, so that nobody asks again. Empty without models. All of them must outlive the
/// reader.
[[nodiscard]] std::shared_ptr<ShapeReader> shape_reader(const settings::Session& session,
                                                        const Models& models,
                                                        llm::QuestionTally& tally);

/// Empty without models. `clean` makes several lines fit to be sent. Models and tally must outlive
/// the reader.
[[nodiscard]] CauseReader cause_reader(const Models& models, lines::CleanText clean,
                                       llm::QuestionTally& tally);

/// What the models cost and what went wrong with them, as documents report it.
struct ModelCost {
  std::int64_t calls = 0, tokens = 0;
  std::int64_t accepted = 0, dropped = 0;  ///< values
  std::vector<std::string> degraded;
};
[[nodiscard]] ModelCost cost_of(const Models& models, const llm::QuestionTally& tally);
/// Adds `cost` and `degraded`.
void add_cost(const ModelCost& cost, Document& document);

}  // namespace schedmate::service
