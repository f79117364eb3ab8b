// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The cluster's own programs (sacct, scontrol): the one place that starts them. A client whose
/// controller is away hangs for ten seconds and more, so each has a deadline and a cap on its
/// answer. No shell reads the words. Tests put scripts of these names into a folder of PATH.

#include <chrono>
#include <schedmate/result.hpp>
#include <string>
#include <vector>

#include "settings/environment.hpp"

namespace schedmate::process {

struct ToolCall {
  /// The program's name, looked for in PATH, and its arguments.
  std::vector<std::string> words;
  std::chrono::milliseconds deadline{5000};
  std::size_t most_bytes = std::size_t{64} << 20U;  ///< of its answer
  /// "NAME=VALUE", instead of what the environment has.
  std::vector<std::string> variables{};
  /// Nothing but complaints is a failure, whatever the exit code.
  bool must_print = false;
};

/// Where PATH has the program, "" = nowhere.
[[nodiscard]] std::string find_tool(const settings::Environment& environment,
                                    const std::string& name);

/// The variables that such a program gets, with `given` instead of what the environment has.
[[nodiscard]] std::vector<std::string> tool_variables(const settings::Environment& environment,
                                                      const std::vector<std::string>& given);

/// What it printed, with TZ=UTC and LC_ALL=C, and without the variables that change formats. It and
/// whatever it started are gone afterwards. Errors: not_found (not installed), timeout, unavailable
/// (it failed: its exit code and its own words, made safe), bad_reply (more than `most_bytes`).
[[nodiscard]] Result<std::string> run_tool(const settings::Environment& environment,
                                           const ToolCall& call);

}  // namespace schedmate::process
