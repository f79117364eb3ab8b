// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Progress of many logs, whose words are loaded once.

#include <schedmate/progress.hpp>

#include "log/progress/log_words.hpp"

namespace schedmate::progress {

/// As schedmate::track() of one log, without a reader of unknown lines.
[[nodiscard]] Result<Progress> track_with(const LogWords& words, const ForeignPath& log);

}  // namespace schedmate::progress
