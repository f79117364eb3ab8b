// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What track and diagnose found in a job's log, as the history keeps it.

#include <schedmate/result.hpp>
#include <string>
#include <string_view>

#include "apps/session.hpp"

namespace schedmate {

/// JSON {"log": absolute path, "progress": ..., "diagnosis": ...}. Errors: those of reading it.
[[nodiscard]] Result<std::string> summarize_log(const Session& session, const std::string& path);

/// The log of such a summary; "" when there is none.
[[nodiscard]] std::string log_of_summary(std::string_view summary);

}  // namespace schedmate
