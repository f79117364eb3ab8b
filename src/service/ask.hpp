// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/document.hpp"
#include "service/ask_model.hpp"

namespace schedmate::service {

struct AskRequest {
  std::string subject;   ///< a log, or the id of a job whose log `history finish --log` has named
  std::string question;  ///< one or several, with '?' between
  std::string job{};     ///< file of what the scheduler knows of it; "" = none
};

struct AskAnswer {
  std::vector<ask::LogAnswer> answers;  ///< lines printable and without secrets
  llm::QuestionTally model;
  std::int64_t calls = 0;             ///< of models
  std::vector<std::string> left_out;  ///< what the budget of a reading left out of the log
  std::vector<std::string> notes;     ///< on what was read
  /// At least one question is one that a log of this job can answer.
  [[nodiscard]] bool answered() const;
};

/// What a log says, in words and lines. Errors: not_found (neither a log nor a job with one),
/// invalid (a log without text), those of reading.
[[nodiscard]] Result<AskAnswer> ask(const settings::Session& session, const AskRequest& request);

/// schedmate.answers.v1.
[[nodiscard]] Document ask_document(const AskAnswer& answer);

}  // namespace schedmate::service
