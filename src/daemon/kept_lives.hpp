// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How far jobs were by their logs, and how fast, over a restart: `lives.jsonl` in the state
/// folder, a line for each job. No intent: what a kill leaves out is what the last minute's looks
/// found.

#include <functional>
#include <map>
#include <schedmate/result.hpp>
#include <string>

#include "live/lives.hpp"

namespace schedmate::daemon {

/// By id; each with its attempt and what its log said, and nothing else.
using MeasuredLives = std::map<std::string, live::Life>;

/// Of most points the last ones are there, and few of those before.
[[nodiscard]] MeasuredLives measured_lives(const live::Lives& lives);
/// Errors: unavailable; what is there stays.
Result<void> keep_lives(const MeasuredLives& lives, const std::string& state_dir);
/// A file that is not there holds nothing. What is damaged, or nothing that was kept, is left out,
/// and `report` is told so.
[[nodiscard]] MeasuredLives kept_lives(const std::string& state_dir,
                                       const std::function<void(const std::string&)>& report);

}  // namespace schedmate::daemon
