// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A hostile log. What holds for all of them (no machine is blamed without a witness, no node is
/// named that is not the job's, bounded time and memory, output that is safe on a terminal) is
/// checked by hostile_logs_test.cpp and not said in each.

#include <string>
#include <vector>

namespace schedmate::hostile_logs {

/// The job's allocation in every case.
inline constexpr const char* own_node = "node-a1";
/// Nodes of somebody else's job, which logs try to have blamed.
inline constexpr const char* foreign_node = "victim-77";

struct LogCase {
  std::string name;
  std::string bytes;
  std::string file = "job.log";
};
using LogCases = std::vector<LogCase>;

LogCases forged_cases();       ///< hardware faults and schedulers that a print() imitates
LogCases instruction_cases();  ///< texts for a model or an operator
LogCases node_cases();         ///< names of machines
LogCases terminal_cases();     ///< escape sequences and the like
LogCases flood_cases();        ///< of templates, numbers, failures
LogCases encoding_cases();     ///< half UTF-8, UTF-16, NUL, broken archives
LogCases bomb_cases();         ///< small files that are large

/// Lines of an ordinary training, then `text`.
std::string training_then(const std::string& text);

}  // namespace schedmate::hostile_logs
