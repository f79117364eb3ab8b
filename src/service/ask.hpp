// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/document.hpp"
#include "service/ask_model.hpp"

namespace schedmate::service {

struct AskRequest {
  std::string subject;   ///< a log, or the id of a job whose log `history finish --log` has named
  std::string question;  ///< one or several, with '?' between
};

struct AskAnswer {
  std::vector<ask::LogAnswer> answers;  ///< lines printable and without secrets
  llm::QuestionTally model;
  std::int64_t calls = 0;             ///< of models
  std::vector<std::string> left_out;  ///< what the budget of a reading left out of the log
};

/// What a log says, in words and lines. Errors: not_found (neither a log nor a job with one), those
/// of reading.
[[nodiscard]] Result<AskAnswer> ask(const settings::Session& session, const AskRequest& request);

/// schedmate.answers.v1.
[[nodiscard]] Document ask_document(const AskAnswer& answer);

}  // namespace schedmate::service
