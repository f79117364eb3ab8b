// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `schedmate ask LOG|JOB "QUESTION"`: what a log says, in words and lines.

#include "settings/session.hpp"

namespace schedmate {

struct AskRequest {
  std::string subject;  ///< a log, or the id of a job whose log `history finish --log` has named
  std::string question;
};

/// Errors: not_found (neither a log nor a job with one), those of reading.
[[nodiscard]] Result<void> run_ask(const Session& session, const AskRequest& request);

}  // namespace schedmate
